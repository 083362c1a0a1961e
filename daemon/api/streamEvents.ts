import { once } from 'node:events'
import type { FastifyReply } from 'fastify'
import { toPkgdError } from '../core/errors.ts'
import type { Clock, Logger } from '../core/ports.ts'
import { toProblem } from './toProblem.ts'

interface StreamOptions<T> {
  readonly reply: FastifyReply
  /** Opens what is streamed; the signal is aborted when the reader is gone or the daemon closes. */
  readonly open: (signal: AbortSignal) => AsyncIterable<T>
  /** What is sent of an item: the item itself by default. `id` is what Last-Event-ID will name; `event` is a name other than `message`. */
  readonly toMessage?: (item: T) => { readonly id?: string; readonly event?: string; readonly data: unknown }
  readonly closing: AbortSignal
  readonly clock: Clock
  readonly log: Logger
}

/** Proxies and readers give up a connection that says nothing. */
const heartbeatMs = 15_000
/** What fails this soon is answered as a problem instead of a stream. */
const earlyMs = 20

/** Aborted when the client has gone before its answer was complete, or the daemon closes. */
export function toClientSignal(reply: FastifyReply, closing: AbortSignal): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('The client has gone'))
  })
  return AbortSignal.any([gone.signal, closing])
}

/** Answers with server-sent events, one an item, until the source ends or the reader goes. Nothing is buffered for a slow reader: the source waits. */
export async function streamEvents<T>({
  reply,
  open,
  toMessage = (data) => ({ data }),
  closing,
  clock,
  log,
}: StreamOptions<T>): Promise<void> {
  const { raw } = reply
  const signal = toClientSignal(reply, closing)
  const iterator = open(signal)[Symbol.asyncIterator]()
  let next = iterator.next()
  const early = Promise.withResolvers<void>()
  const cancelEarly = clock.after(earlyMs, early.resolve)
  await Promise.race([next, early.promise]).finally(cancelEarly)

  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  raw.flushHeaders()
  let cancelBeat = () => {}
  const beat = () => {
    if (!raw.writableNeedDrain) raw.write(': \n\n')
    cancelBeat = clock.after(heartbeatMs, beat)
  }
  cancelBeat = clock.after(heartbeatMs, beat)
  const write = async (text: string) => {
    if (!raw.write(text) && !signal.aborted) await once(raw, 'drain', { signal })
  }
  try {
    for (let item = await next; !item.done; item = await next) {
      const { id, event, data } = toMessage(item.value)
      const fields = [
        ...(id === undefined ? [] : [`id: ${id}`]),
        ...(event === undefined ? [] : [`event: ${event}`]),
        `data: ${JSON.stringify(data)}`,
      ]
      await write(`${fields.join('\n')}\n\n`)
      if (signal.aborted) break
      next = iterator.next()
    }
  } catch (error) {
    if (!signal.aborted) {
      log.warn('a stream ended with an error', { url: reply.request.routeOptions.url, error })
      raw.write(`event: error\ndata: ${JSON.stringify(toProblem(toPkgdError(error)))}\n\n`)
    }
  } finally {
    cancelBeat()
    raw.end()
    await iterator.return?.()
  }
}
