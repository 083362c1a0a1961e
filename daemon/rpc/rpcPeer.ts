import { PkgdError } from '../core/errors.ts'
import { createFrameReader, type SkippedFrame } from './frameReader.ts'
import { createOutbox } from './outbox.ts'
import { parseMessages } from './parseMessage.ts'
import { createPendingCalls, toAbortError } from './pendingCalls.ts'
import { createRequestServer } from './requestServer.ts'
import type { Frame, NotificationHandler, RpcMessage, RpcPeer, RpcPeerOptions, RpcResult } from './rpc.ts'
import { rpcCodes, toUpstreamError } from './rpcFailure.ts'

/** Answers that may wait for a side that does not read before its own messages are no longer read either. */
const maxWaitingAnswers = 256

const shownGarbage = 200

/** A side that wrote so many other lines and never a message does not speak JSON-RPC. */
const maxGarbage = 1_000

/** JSON-RPC over a channel that the peer takes over: it reads it to its end and destroys it at `close`. */
export function createRpcPeer(options: RpcPeerOptions): RpcPeer {
  const { channel, name, idPrefix, maxFrameBytes, budget, cancelMethod, redactor, clock } = options
  const log = redactor.logger(options.log)
  const calls = createPendingCalls(name, clock)
  const outbox = createOutbox(channel, () => channel.resume())
  const server = createRequestServer((message) => {
    if (ended) return
    outbox.send(encode(message))
    if (outbox.waiting > maxWaitingAnswers) channel.pause()
  }, log)
  const closed = Promise.withResolvers<Error>()
  const garbage: { lines: number; first: string | undefined } = { lines: 0, first: undefined }
  let onNotification: NotificationHandler = () => {}
  let ended: Error | undefined
  let count = 0
  let lastHeardAt = clock.now()
  let mayBeCut = options.adopted
  let spoke = false

  const receive = (frame: Frame) => {
    const { message } = frame
    if ('method' in message) {
      if ('id' in message) server.handle(message)
      else receiveNotification(message.method, message.params, frame)
    } else if ('error' in message) {
      if (calls.has(message.id)) calls.reject(message.id, toUpstreamError(name, calls.method(message.id), redactor.value(message.error)))
      else log.debug('The package sent an error that answers nothing', { code: message.error.code })
    } else if (calls.has(message.id)) {
      calls.resolve(message.id, frame as Frame<RpcResult>)
    } else {
      log.debug('The package answered a request that nobody waits for', { id: message.id })
    }
  }

  const receiveNotification = (method: string, params: Record<string, unknown> | undefined, frame: Frame) => {
    if (method === 'notifications/progress' && calls.has(params?.progressToken)) {
      calls.progress(params.progressToken, params)
    } else if (method === cancelMethod && calls.has(params?.requestId)) {
      const id = params.requestId
      calls.reject(id, new PkgdError('UPSTREAM_ERROR', `${name} gave up ${calls.method(id)}`))
    } else if (method === cancelMethod && isId(params?.requestId) && server.cancel(params.requestId)) {
      log.debug('The package cancelled a request of its own')
    } else {
      onNotification(method, params, frame)
    }
  }

  const receiveLine = (line: Buffer) => {
    const couldBeCut = mayBeCut
    mayBeCut = false
    if (isBlank(line)) return
    const messages = parseMessages(line)
    if (messages === undefined) {
      if (!couldBeCut) receiveGarbage(line)
      return
    }
    lastHeardAt = clock.now()
    spoke = true
    for (const message of messages) receive({ message, bytes: messages.length === 1 ? line : encode(message).subarray(0, -1) })
  }

  const receiveGarbage = (line: Buffer) => {
    garbage.lines++
    if (garbage.lines >= maxGarbage && !spoke) {
      end(new PkgdError('PROTOCOL_ERROR', `${name} writes lines to stdout that are no JSON-RPC, the first: ${garbage.first}`))
    }
    if (garbage.first !== undefined) return
    garbage.first = redactor.text(line.toString()).slice(0, shownGarbage)
    log.warn('The package writes lines to stdout that are no JSON-RPC messages; they are skipped', { first: garbage.first })
  }

  const receiveSkipped = ({ envelope, bytes, over }: SkippedFrame) => {
    mayBeCut = false
    lastHeardAt = clock.now()
    const limit =
      over === 'limit' ? `more than the limit of ${maxFrameBytes} bytes` : 'more than the memory left for messages of all packages'
    const message = `A message of ${name} has ${bytes} bytes, ${limit}`
    if (!envelope.hasMethod && calls.has(envelope.id)) {
      calls.reject(
        envelope.id,
        new PkgdError('FRAME_TOO_LARGE', message, {
          hint: over === 'limit' ? 'ask for less, or raise limits.frame in pkgd.yaml' : 'try again when fewer large calls are under way',
        }),
      )
      return
    }
    log.warn(message, { id: envelope.id })
    if (envelope.hasMethod && envelope.id !== undefined) {
      outbox.send(encode({ jsonrpc: '2.0', id: envelope.id, error: { code: rpcCodes.invalidRequest, message } }))
    }
  }

  const reader = createFrameReader({ maxFrameBytes, budget, onFrame: receiveLine, onSkipped: receiveSkipped })

  const end = (reason: Error) => {
    if (ended) return
    ended = reason
    reader.close()
    calls.rejectAll(reason)
    server.cancelAll(reason)
    channel.destroy()
    closed.resolve(reason)
  }
  const crashed = (cause?: Error) => end(new PkgdError('PACKAGE_CRASHED', `${name} closed its stdout`, cause ? { cause } : {}))

  channel.on('data', (chunk: Buffer) => {
    if (!ended) reader.push(chunk)
  })
  channel.on('end', () => crashed())
  channel.on('close', () => crashed())
  channel.on('error', (error) => crashed(error))
  if (options.adopted) outbox.send(Buffer.from('\n'))

  return {
    async request(method, params, request = {}) {
      if (ended) throw ended
      if (request.signal?.aborted) throw toAbortError(name, method, request.signal)
      const id = `${idPrefix}${++count}`
      const sent = request.onProgress ? withProgressToken(params, id) : params
      const line = encode({ jsonrpc: '2.0', id, method, ...(sent && { params: sent }) })
      if (line.length > maxFrameBytes) {
        throw new PkgdError(
          'FRAME_TOO_LARGE',
          `${method} to ${name} has ${line.length} bytes, more than the limit of ${maxFrameBytes} bytes`,
          {
            hint: 'send less, or raise limits.frame in pkgd.yaml',
          },
        )
      }
      request.onId?.(id)
      const answer = calls.add(id, {
        method,
        options: request,
        giveUp(reason) {
          const tell = !outgoing.withdraw() && request.cancellable !== false
          if (tell) outbox.send(encode({ jsonrpc: '2.0', method: cancelMethod, params: { requestId: id, reason } }))
        },
      })
      const outgoing = outbox.send(line)
      return answer
    },
    notify(method, params) {
      if (!ended) outbox.send(encode({ jsonrpc: '2.0', method, ...(params && { params }) }))
    },
    onRequest: server.setHandler,
    onNotification(handler) {
      onNotification = handler
    },
    get pending() {
      return calls.size
    },
    get lastHeardAt() {
      return lastHeardAt
    },
    garbage,
    close: end,
    closed: closed.promise,
    async [Symbol.asyncDispose]() {
      end(new PkgdError('OPERATION_CANCELLED', `The connection to ${name} was closed`))
    },
  }
}

const encode = (message: RpcMessage | Record<string, unknown>): Buffer => Buffer.from(`${JSON.stringify(message)}\n`)

const isId = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}

/** The request's own id is its progress token. */
function withProgressToken(params: Record<string, unknown> | undefined, id: string): Record<string, unknown> {
  const meta = params?._meta
  return { ...params, _meta: { ...(typeof meta === 'object' ? meta : {}), progressToken: id } }
}
