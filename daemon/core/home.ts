import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Where everything of one daemon is; the only place that knows the names. All paths are absolute. */
export interface Home {
  readonly root: string
  readonly socket: string
  readonly token: string
  /** `{pid, url, version, started_at}` of the running daemon. */
  readonly daemonFile: string
  /** Held by the running daemon: two on one home are refused. */
  readonly lock: string
  readonly config: string
  readonly dotenv: string
  readonly lockfile: string
  readonly state: string
  /** The daemon's id and what it is bound to. */
  readonly identity: string
  readonly log: string
  /** Installed trees, content-addressed. */
  readonly store: string
  /** Download caches, one folder a tool. */
  readonly cache: string
  /** Built image roots. */
  readonly images: string
  /** One folder a live sandbox: pipes, env file, exit status. */
  readonly run: string
  /** One folder a package's /data. */
  readonly data: string
  /** Scratch space; emptied at start. */
  readonly tmp: string
}

/** The home at `$PKGD_HOME`, else `~/.pkgd`. */
export function locateHome(env: Readonly<Record<string, string | undefined>> = process.env): Home {
  const root = resolve(env.PKGD_HOME || join(homedir(), '.pkgd'))
  const at = (name: string) => join(root, name)
  return {
    root,
    socket: at('pkgd.sock'),
    token: at('token'),
    daemonFile: at('daemon.json'),
    lock: at('daemon.lock'),
    config: at('pkgd.yaml'),
    dotenv: at('.env'),
    lockfile: at('pkgd.lock'),
    state: at('state.db'),
    identity: at('daemon.id'),
    log: at('daemon.log'),
    store: at('store'),
    cache: at('cache'),
    images: at('images'),
    run: at('run'),
    data: at('data'),
    tmp: at('tmp'),
  }
}
