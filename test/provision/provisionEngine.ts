import { spawn } from 'node:child_process'
import { mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'

/** Where sandboxes can run on this machine, found or made. */
export type Provision =
  | { readonly driver: 'docker'; readonly how: 'found' | 'started' | 'installed'; readonly remark: string }
  | { readonly driver: 'bubblewrap'; readonly remark: string }
  | { readonly driver: null; readonly remark: string }

const engineSocket = '/var/run/docker.sock'
const engineLog = '/var/log/pkgd-dockerd.log'

/** Whether the engine that Docker's own clients would use answers a ping. */
export function engineAnswers(host: string | undefined = process.env.DOCKER_HOST): Promise<boolean> {
  const url = new URL(host || `unix://${engineSocket}`)
  const target = url.protocol === 'unix:' ? { socketPath: url.pathname } : { host: url.hostname, port: url.port || 2375 }
  return new Promise((resolve) => {
    const ping = request({ ...target, path: '/_ping', timeout: 3000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    ping.on('timeout', () => ping.destroy(new Error('no answer')))
    ping.on('error', () => resolve(false))
    ping.end()
  })
}

/** Whether `command` is on the PATH. */
export async function onPath(command: string): Promise<boolean> {
  return (await execa('sh', ['-c', 'command -v "$1"', 'sh', command], { reject: false })).exitCode === 0
}

/**
 * Finds a container engine; else, as root on Debian or its kin, installs one from the distribution and starts it; else settles for bubblewrap.
 * `PKGD_PROVISION=0` forbids installing and starting. What is started is left running.
 */
export async function provisionEngine(say: (line: string) => void): Promise<Provision> {
  if (await engineAnswers()) return { driver: 'docker', how: 'found', remark: 'a container engine answers' }
  const refusal = provisionRefusal()
  if (refusal === null) {
    const installed = await onPath('dockerd')
    if (!installed) {
      say('No container engine here: installing docker.io from the distribution (PKGD_PROVISION=0 forbids it) ...')
      await installPackages(['docker.io', 'iptables'])
    }
    const pid = await startEngine()
    say(`Started a Docker engine; it is left running. Stop it with: kill ${pid}   (its log: ${engineLog})`)
    return { driver: 'docker', how: installed ? 'started' : 'installed', remark: `started here, pid ${pid}` }
  }
  if (await onPath('bwrap')) return { driver: 'bubblewrap', remark: `no container engine answers and ${refusal}` }
  return {
    driver: null,
    remark: `no container engine answers and ${refusal}; install Docker (or any engine with its API) or bubblewrap`,
  }
}

/** Installs Debian packages by name, quietly; their output is shown only when it fails. */
export async function installPackages(names: readonly string[]): Promise<void> {
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  await execa('apt-get', ['update', '-qq'], { env, all: true })
  await execa('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], { env, all: true })
}

function provisionRefusal(): string | null {
  if (process.env.PKGD_PROVISION === '0') return 'PKGD_PROVISION=0 forbids making one'
  if (process.env.DOCKER_HOST) return 'DOCKER_HOST names another machine or socket'
  if (process.platform !== 'linux') return 'only Linux can be given one'
  if (process.getuid?.() !== 0) return 'only root can install one'
  if (!/^ID(_LIKE)?=.*(debian|ubuntu)/m.test(readFileSync('/etc/os-release', 'utf8'))) return 'only Debian and Ubuntu are known how to'
  return null
}

async function startEngine(): Promise<number> {
  for (const file of ['/var/run/docker.pid', '/var/run/docker/containerd/containerd.pid']) removeStalePid(file)
  mkdirSync('/var/log', { recursive: true })
  const log = openSync(engineLog, 'a')
  const engine = spawn('dockerd', [], { detached: true, stdio: ['ignore', log, log] })
  engine.unref()
  const died = new Promise<never>((_, reject) => {
    engine.once('error', reject)
    engine.once('exit', (code) => reject(new Error(`dockerd ended with ${code}; see ${engineLog}`)))
  })
  const answered = async () => {
    for (let tries = 0; tries < 300; tries++) {
      if (await engineAnswers(undefined)) return
      await delay(200)
    }
    throw new Error(`dockerd did not answer within a minute; see ${engineLog}`)
  }
  await Promise.race([answered(), died])
  engine.removeAllListeners()
  return engine.pid ?? 0
}

/** A killed engine leaves its pid file; when that pid now belongs to another program, the next engine would refuse to start. */
function removeStalePid(file: string): void {
  const pid = readIfThere(file)?.trim()
  if (!pid) return
  const name = readIfThere(`/proc/${pid}/comm`)?.trim()
  if (name !== 'dockerd' && name !== 'containerd') rmSync(file, { force: true })
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ESRCH') return undefined
    throw error
  }
}
