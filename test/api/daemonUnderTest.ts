import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { locateHome } from '../../daemon/core/home.ts'
import { createDaemon, type Daemon } from '../../daemon/createDaemon.ts'
import { createLogger } from '../../daemon/log/createLogger.ts'
import { createFakeDriver } from '../../sandbox/fake/fakeDriver.ts'
import { createFakeEngine, type FakeEngine } from '../../sandbox/fake/fakeEngine.ts'
import type { FakeProgram } from '../../sandbox/fake/fakeProgram.ts'
import { exitWith, mcpEcho } from '../../sandbox/fake/fakePrograms.ts'

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
  json<T = unknown>(): T
}

export interface DaemonBench extends Disposable {
  readonly root: string
  readonly engine: FakeEngine
  readonly lines: string[]
  /** Another life of the daemon on the same home and engine. */
  open(env?: Record<string, string>): Promise<Daemon>
  /** A package's folder whose server is the fake program `command`; `more` goes into its manifest. */
  folder(id: string, command?: readonly string[], more?: object): string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** An open response, for streams. */
  stream(path: string, headers?: Record<string, string>): Promise<IncomingMessage>
}

/** The whole daemon over HTTP on its socket; only the boxes are in memory. */
export function createDaemonBench(programs: Readonly<Record<string, FakeProgram>> = {}): DaemonBench {
  const root = mkdtempSync(join(tmpdir(), 'pkgd-d-'))
  const home = locateHome({ PKGD_HOME: join(root, 'home') })
  const engine = createFakeEngine({ programs: { 'mcp-echo': mcpEcho, exit: exitWith, ...programs } })
  const lines: string[] = []
  const log = createLogger({ threshold: 'debug', json: true, write: (line) => lines.push(line) })

  const send = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const token = readFileSync(home.token, 'utf8').trim()
      const payload = body === undefined ? undefined : JSON.stringify(body)
      const outgoing = request(
        {
          socketPath: home.socket,
          host: 'localhost',
          method,
          path,
          agent: false,
          headers: { authorization: `Bearer ${token}`, ...(payload ? { 'content-type': 'application/json' } : {}), ...headers },
        },
        resolve,
      )
      outgoing.on('error', reject)
      outgoing.end(payload)
    })

  return {
    root: home.root,
    engine,
    lines,
    open: (env = {}) =>
      createDaemon({
        home,
        version: '0.0.1',
        env: { PKGD_PORT: '0', PKGD_LOG: 'debug', ...env },
        log,
        openDriver: async ({ state }) => createFakeDriver({ engine, daemon: state.daemonId }),
      }),
    folder(id, command = ['mcp-echo'], more = {}) {
      const path = join(root, id)
      mkdirSync(path, { recursive: true })
      const [program, ...args] = command
      const manifest = {
        id,
        name: id,
        version: '1.0.0',
        type: 'mcp-server',
        mcp: { command: program, args },
        sandbox: { image: 'example/fake:1' },
        restart: { policy: 'no' },
        ...more,
      }
      writeFileSync(join(path, 'package.json'), JSON.stringify(manifest))
      return path
    },
    async call(method, path, body, headers = {}) {
      const response = await send(method, path, body, headers)
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString()
      return { status: response.statusCode ?? 0, headers: response.headers, body: text, json: () => JSON.parse(text) }
    },
    stream: (path, headers = {}) => send('GET', path, undefined, { accept: 'text/event-stream', ...headers }),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}
