import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'

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
  /** As DOCKER_HOST says, with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH. */
  | { readonly kind: 'environment'; readonly host: string }
  /** DOCKER_HOST says something that no engine can be reached by from here. */
  | { readonly kind: 'unsupported'; readonly host: string }

/** DOCKER_HOST where it is set, else the first socket that is there, else the usual one (whose absence is then the error). */
export function pickEngineEndpoint(
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = existsSync,
  home: string = homedir(),
): EngineEndpoint {
  const host = env.DOCKER_HOST
  if (host?.startsWith('unix://') && host.length > 'unix://'.length) return { kind: 'socket', path: host.slice('unix://'.length) }
  if (host && !host.startsWith('unix://')) return { kind: isNetworkHost(host) ? 'environment' : 'unsupported', host }
  const sockets = listEngineSockets(env, home)
  return { kind: 'socket', path: sockets.find(exists) ?? '/var/run/docker.sock' }
}

/** A way over the network. ssh:// is left to ssh itself, which forwards a socket. */
const isNetworkHost = (host: string): boolean => /^(tcp|https?):\/\//.test(host) && URL.canParse(host) && new URL(host).hostname !== ''

/** Errors: ENGINE_UNREACHABLE for an endpoint that nothing can be reached by. */
export function demandEndpoint(endpoint: EngineEndpoint): void {
  if (endpoint.kind !== 'unsupported') return
  const ssh = endpoint.host.startsWith('ssh://')
  throw new PkgdError(
    'ENGINE_UNREACHABLE',
    `DOCKER_HOST=${hide(endpoint.host)} is not supported: it is neither unix:// nor tcp://host:port`,
    {
      hint: ssh
        ? 'forward its socket (ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock <host>) and set DOCKER_HOST=unix:///tmp/engine.sock'
        : 'unset DOCKER_HOST for the usual socket, or name one: unix:///var/run/docker.sock',
    },
  )
}

/** Without what stands before the host, which may be a password. */
const hide = (host: string): string => host.replace(/\/\/[^@/]*@/, '//***@')
