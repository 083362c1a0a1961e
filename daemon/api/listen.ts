import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hasCode, PkgdError } from '../core/errors.ts'
import { findPortHolder } from '../home/portHolder.ts'
import { answerClientError } from './answerClientError.ts'
import type { Api } from './api.ts'

export interface Listening extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
}

/** Not imported: an ES import of node:http also loads what its WebSocket export stands for, 12 MB that are never used. */
const { createServer } = process.getBuiltinModule('node:http')

/** How long requests that are under way may take to end once the daemon closes. */
const graceMs = 1000

async function bindPort(server: Server, port: number): Promise<number> {
  server.listen({ host: '127.0.0.1', port })
  try {
    await once(server, 'listening')
  } catch (error) {
    if (!hasCode(error, 'EADDRINUSE') && !hasCode(error, 'EACCES')) throw error
    const holder = hasCode(error, 'EADDRINUSE') ? await findPortHolder(port).catch(() => undefined) : 'the system: only root may use it'
    throw new PkgdError('PORT_IN_USE', `127.0.0.1:${port} is taken${holder ? ` by ${holder}` : ''}`, {
      hint: 'set PKGD_PORT to another port, or to 0 for a free one',
      cause: error,
    })
  }
  return (server.address() as AddressInfo).port
}

async function bindSocket(server: Server, path: string): Promise<void> {
  // Whoever holds the home's lock owns this path: a socket that is there is a dead daemon's.
  rmSync(path, { force: true })
  server.listen(path)
  await once(server, 'listening')
  chmodSync(path, 0o600)
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed.finally(() => clearTimeout(timer))
}

/** Serves the API on 127.0.0.1 and on the home's socket, and nowhere else. Errors: PORT_IN_USE. */
export async function listen(api: Api, { port, socket }: { port: number; socket: string }): Promise<Listening> {
  await api.ready()
  const options = { keepAliveTimeout: 30_000, headersTimeout: 10_000, requestTimeout: 120_000, requireHostHeader: false }
  const [tcp, unix] = [createServer(options, api.routing), createServer(options, api.routing)]
  for (const server of [tcp, unix]) server.on('clientError', answerClientError)
  const dispose = async () => {
    await Promise.all([close(tcp), close(unix)])
    rmSync(socket, { force: true })
    await api.close()
  }
  try {
    const bound = await bindPort(tcp, port)
    await bindSocket(unix, socket)
    return { url: `http://127.0.0.1:${bound}`, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}
