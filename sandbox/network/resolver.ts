import { createSocket } from 'node:dgram'
import { createServer, type Socket } from 'node:net'
import type { Logger } from '../../daemon/core/ports.ts'
import { parseQuestion, type Question, recordType, responseCode, toResponse } from './dnsMessage.ts'
import { createLengthFrames, toLengthFrame } from './dnsOverTcp.ts'
import { askResolvers, type Transport } from './upstreamResolver.ts'

/** What a resolver answers: anything its upstreams know, or only these names with these addresses. */
export type NamePolicy = { readonly forward: readonly string[] } | { readonly pinned: ReadonlyMap<string, readonly string[]> }

export interface ResolverOptions {
  /** The address to listen on, and the port (53 but in tests). */
  readonly address: string
  readonly port?: number
  readonly names: NamePolicy
  readonly log: Logger
  /** For one upstream. */
  readonly timeoutMs?: number
}

export interface Resolver {
  readonly port: number
  close(): Promise<void>
}

/** Questions of one package that may wait for an upstream at once; more are answered with a failure. */
const maxInFlight = 64
const maxConnections = 16
const idleMs = 10_000

/**
 * A DNS forwarder on one address, over UDP and TCP. Questions for IPv6 addresses are answered with none: a package has no IPv6.
 * Errors: whatever listening gives, such as EADDRINUSE.
 */
export async function createResolver({ address, port = 53, names, log, timeoutMs = 2_000 }: ResolverOptions): Promise<Resolver> {
  let inFlight = 0

  async function answer(query: Buffer, transport: Transport): Promise<Buffer | undefined> {
    const question = parseQuestion(query)
    if (!question) return undefined
    if (question.type === recordType.AAAA) return toResponse(query, question, responseCode.ok)
    if ('pinned' in names) return answerPinned(query, question, names.pinned)
    if (inFlight >= maxInFlight) return toResponse(query, question, responseCode.serverFailure)
    inFlight += 1
    try {
      const reply = await askResolvers(query, question, { resolvers: names.forward, transport, timeoutMs })
      return reply ?? toResponse(query, question, responseCode.serverFailure)
    } finally {
      inFlight -= 1
    }
  }

  const tcp = createServer({ allowHalfOpen: false }, (socket) => serveConnection(socket, (query) => answer(query, 'tcp')))
  tcp.maxConnections = maxConnections
  await new Promise<void>((resolve, reject) => {
    tcp.once('error', reject)
    tcp.listen({ host: address, port }, () => {
      tcp.off('error', reject)
      resolve()
    })
  })
  const bound = tcp.address()
  const actualPort = typeof bound === 'object' && bound !== null ? bound.port : port
  const sockets = new Set<Socket>()
  tcp.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  tcp.on('error', (error) => log.warn('a resolver stopped listening over TCP', { address, error: error.message }))

  const udp = createSocket('udp4')
  let open = true
  const respond = async (query: Buffer, peer: { address: string; port: number }) => {
    const reply = await answer(query, 'udp')
    if (reply && open) udp.send(reply, peer.port, peer.address)
  }
  udp.on('message', (query, peer) => {
    respond(query, peer).catch((error: unknown) => log.warn('a question to a resolver failed', { address, error: String(error) }))
  })
  const closeTcp = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy()
      tcp.close(() => resolve())
    })
  try {
    await new Promise<void>((resolve, reject) => {
      udp.once('error', reject)
      udp.bind({ address, port: actualPort, exclusive: true }, () => {
        udp.off('error', reject)
        resolve()
      })
    })
  } catch (error) {
    await closeTcp()
    throw error
  }
  udp.on('error', (error) => log.warn('a resolver stopped listening over UDP', { address, error: error.message }))

  return {
    port: actualPort,
    async close() {
      open = false
      await Promise.all([closeTcp(), new Promise<void>((resolve) => udp.close(() => resolve()))])
    },
  }
}

function answerPinned(query: Buffer, question: Question, pinned: ReadonlyMap<string, readonly string[]>): Buffer {
  const addresses = pinned.get(question.name)
  if (!addresses) return toResponse(query, question, responseCode.nameUnknown)
  return toResponse(query, question, responseCode.ok, question.type === recordType.A ? addresses : [])
}

function serveConnection(socket: Socket, answer: (query: Buffer) => Promise<Buffer | undefined>): void {
  const frames = createLengthFrames()
  socket.setTimeout(idleMs, () => socket.destroy())
  // A package that goes away in the middle of its question is its own affair.
  socket.on('error', () => socket.destroy())
  const respond = async (query: Buffer) => {
    const reply = await answer(query)
    // Who asks and does not read, or sends what is no question, is cut off.
    if (!reply || socket.writableNeedDrain) socket.destroy()
    else if (socket.writable) socket.write(toLengthFrame(reply))
  }
  socket.on('data', (chunk) => {
    for (const query of frames(chunk)) respond(query).catch(() => socket.destroy())
  })
}
