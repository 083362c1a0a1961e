import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Docker from 'dockerode'
import { execa } from 'execa'
import type { Info } from '../../daemon/api/schemas/info.ts'
import type { PackageView } from '../../daemon/api/schemas/packages.ts'

const root = join(import.meta.dirname, '..', '..')
const shared = join(tmpdir(), `pkgd-test-cache-${process.getuid?.() ?? 0}`)

export interface CliResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** stdout as JSON; throws when it is not one document. */
  json<T>(): T
}

export interface RestResult<T> {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: T
}

/** A user's machine in small: a home of its own, the real CLI, the real daemon on a real driver. */
export interface TestHome extends AsyncDisposable {
  readonly path: string
  pkg(
    args: readonly string[],
    options?: { cwd?: string; input?: string; env?: Record<string, string>; signal?: AbortSignal },
  ): Promise<CliResult>
  rest<T>(method: string, path: string, body?: unknown): Promise<RestResult<T>>
  daemonPid(): number
  /** Every file below the home but logs, caches and the database, with its content: what "nothing changed on disk" compares. */
  snapshot(): Promise<Record<string, string>>
  /** Containers, running or not, that carry this daemon's label. */
  containers(): Promise<{ id: string; packageId: string; running: boolean }[]>
}

export interface TestHomeOptions {
  readonly driver: 'docker' | 'bubblewrap'
  /** The text of pkgd.yaml. */
  readonly config?: string
  readonly env?: Readonly<Record<string, string>>
  /** Downloads and images are shared between tests unless this is false. */
  readonly sharedCache?: boolean
}

/** Makes the home; nothing runs until the first command. Disposing it uninstalls all, stops the daemon and proves that nothing is left. */
export async function createTestHome({ driver, config, env = {}, sharedCache = true }: TestHomeOptions): Promise<TestHome> {
  const path = await mkdtemp(join(tmpdir(), 'pkgd-home-'))
  if (sharedCache) {
    for (const name of ['cache', 'images']) {
      mkdirSync(join(shared, name), { recursive: true })
      symlinkSync(join(shared, name), join(path, name))
    }
  }
  if (config !== undefined) await writeFile(join(path, 'pkgd.yaml'), config)
  const environment = { PKGD_HOME: path, PKGD_PORT: '0', PKGD_DRIVER: driver, PKGD_URL: '', PKGD_TOKEN: '', PKGD_LOG: 'debug', ...env }
  let daemonId: string | null = null

  const pkg: TestHome['pkg'] = async (args, { cwd = path, input = '', env: more = {}, signal } = {}) => {
    const result = await execa(join(root, 'bin', 'pkg'), args, {
      cwd,
      input,
      env: { ...environment, ...more },
      reject: false,
      stripFinalNewline: false,
      ...(signal ? { cancelSignal: signal } : {}),
    })
    return { exitCode: result.exitCode ?? 1, stdout: result.stdout, stderr: result.stderr, json: <T>() => JSON.parse(result.stdout) as T }
  }

  const rest = <T>(method: string, route: string, body?: unknown): Promise<RestResult<T>> =>
    new Promise((resolve, reject) => {
      const payload = body === undefined ? undefined : JSON.stringify(body)
      const outgoing = request(
        {
          socketPath: join(path, 'pkgd.sock'),
          path: route,
          method,
          headers: {
            host: 'localhost',
            authorization: `Bearer ${readFileSync(join(path, 'token'), 'utf8').trim()}`,
            ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
          },
        },
        async (response) => {
          const chunks: Buffer[] = []
          for await (const chunk of response) chunks.push(chunk as Buffer)
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: (text ? JSON.parse(text) : null) as T })
        },
      )
      outgoing.on('error', reject)
      outgoing.end(payload)
    })

  const knownDaemonId = async () => {
    daemonId ??= (await rest<Info>('GET', '/v1/info')).body.daemonId
    return daemonId
  }

  const listContainers = async (id: string) => {
    const found = await new Docker().listContainers({ all: true, filters: { label: [`io.pkgd.daemon=${id}`] } })
    return found.map(({ Id, Labels, State }) => ({ id: Id, packageId: Labels['io.pkgd.package'] ?? '', running: State === 'running' }))
  }

  return {
    path,
    pkg,
    rest,
    daemonPid: () => (JSON.parse(readFileSync(join(path, 'daemon.json'), 'utf8')) as { pid: number }).pid,
    containers: async () => listContainers(await knownDaemonId()),
    async snapshot() {
      await untilEmpty(join(path, 'store', 'staging'))
      const names = await readdir(path, { recursive: true, withFileTypes: true })
      const kept = names.filter(
        (entry) =>
          entry.isFile() &&
          !/^(cache|images|daemon\.(log|json|lock)|state\.db|tmp|store\/records\/.*\.intact$)/.test(
            join(entry.parentPath, entry.name).slice(path.length + 1),
          ),
      )
      return Object.fromEntries(
        kept.map((entry) => {
          const file = join(entry.parentPath, entry.name)
          return [file.slice(path.length + 1), readFileSync(file, 'base64')]
        }),
      )
    },
    async [Symbol.asyncDispose]() {
      const left: string[] = []
      try {
        if (existsSync(join(path, 'token'))) {
          await pkg(['daemon', 'start'])
          const id = await knownDaemonId()
          const packages = (await rest<PackageView[]>('GET', '/v1/packages?limit=1000')).body
          for (const { id: packageId } of packages.toReversed()) await pkg(['uninstall', packageId, '--purge'])
          await pkg(['daemon', 'stop'])
          if (driver === 'docker') {
            for (const container of await listContainers(id)) {
              left.push(`container ${container.packageId} ${container.id}`)
              await new Docker().getContainer(container.id).remove({ force: true })
            }
          }
        }
      } finally {
        await rm(path, { recursive: true, force: true })
      }
      if (left.length > 0) throw new Error(`Left behind: ${left.join(', ')}`)
    },
  }
}

/** Trees that were removed are deleted in the background; one that stays is a leak. */
async function untilEmpty(folder: string): Promise<void> {
  for (let tries = 0; existsSync(folder); tries++) {
    const left = await readdir(folder)
    if (left.length === 0) return
    if (tries === 200) throw new Error(`Left in ${folder}: ${left.join(', ')}`)
    await delay(50)
  }
}
