import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The sockets on which an engine may listen, the usual one first: Docker, rootless Docker, Docker Desktop, Colima, OrbStack, Podman. */
export function listEngineSockets(env: Readonly<Record<string, string | undefined>>, home: string): string[] {
  const runtime = env.XDG_RUNTIME_DIR
  return [
    '/var/run/docker.sock',
    ...(runtime ? [join(runtime, 'docker.sock')] : []),
    join(home, '.docker/run/docker.sock'),
    join(home, '.colima/default/docker.sock'),
    join(home, '.orbstack/run/docker.sock'),
    '/run/podman/podman.sock',
    ...(runtime ? [join(runtime, 'podman/podman.sock')] : []),
  ]
}

/** Where the engine is. */
export type EngineEndpoint =
  | { readonly kind: 'socket'; readonly path: string }
  /** As DOCKER_HOST says (tcp, ssh, npipe), with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH. */
  | { readonly kind: 'environment'; readonly host: string }

/** DOCKER_HOST where it is set, else the first socket that is there, else the usual one (whose absence is then the error). */
export function pickEngineEndpoint(
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = existsSync,
  home: string = homedir(),
): EngineEndpoint {
  const host = env.DOCKER_HOST
  if (host?.startsWith('unix://') && host.length > 'unix://'.length) return { kind: 'socket', path: host.slice('unix://'.length) }
  if (host && !host.startsWith('unix://')) return { kind: 'environment', host }
  const sockets = listEngineSockets(env, home)
  return { kind: 'socket', path: sockets.find(exists) ?? '/var/run/docker.sock' }
}
