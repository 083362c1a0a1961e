import { once } from 'node:events'
import { type Duplex, duplexPair } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Clock, Logger } from '../../../../daemon/core/ports.ts'
import { createRedactor } from '../../../../daemon/core/redactor.ts'
import { createFrameBudget } from '../../../../daemon/rpc/frameBudget.ts'
import type { RpcPeerOptions } from '../../../../daemon/rpc/rpc.ts'
import { createRpcFailure, findRpcError } from '../../../../daemon/rpc/rpcFailure.ts'
import { createRpcPeer } from '../../../../daemon/rpc/rpcPeer.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

/** A clock that moves only when told. */
function createStillClock(): Clock & { advance(ms: number): void } {
  let now = 0
  const timers = new Set<{ at: number; fn: () => void }>()
  return {
    now: () => now,
    after(ms, fn) {
      const timer = { at: now + ms, fn }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance(ms) {
      now += ms
      for (const timer of timers) {
        if (timer.at > now) continue
        timers.delete(timer)
        timer.fn()
      }
    },
  }
}

/** A peer and the bare other end of its channel. */
function connect(options: Partial<RpcPeerOptions> = {}) {
  const [channel, far] = duplexPair()
  const clock = createStillClock()
  const log = { ...silent, warn: vi.fn<Logger['warn']>() }
  const peer = createRpcPeer({
    channel,
    name: 'demo',
    idPrefix: 'life1-',
    maxFrameBytes: 100_000,
    budget: createFrameBudget(1_000_000),
    adopted: false,
    cancelMethod: 'notifications/cancelled',
    redactor: createRedactor([]),
    clock,
    log,
    ...options,
  })
  onTestFinished(() => peer.close(new Error('the test is over')))
  const lines = readLines(far)
  const send = (message: unknown) => far.write(typeof message === 'string' ? `${message}\n` : `${JSON.stringify(message)}\n`)
  const next = async () => JSON.parse((await lines.next()).value ?? 'null') as Record<string, unknown> & { id: string }
  return { peer, channel, far, clock, log, send, next, lines }
}

async function* readLines(stream: Duplex): AsyncGenerator<string, undefined> {
  let rest = ''
  for await (const chunk of stream) {
    const parts = (rest + String(chunk)).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
  return undefined
}

describe('requests', () => {
  test('ids carry the life; the answer comes with its bytes, parsed once', async () => {
    const { peer, send, next } = connect()
    const answer = peer.request('tools/list', { cursor: 'a' })
    const sent = await next()
    expect(sent).toEqual({ jsonrpc: '2.0', id: 'life1-1', method: 'tools/list', params: { cursor: 'a' } })
    send('{"result":{"n":1},"jsonrpc":"2.0","id":"life1-1"}')
    const frame = await answer
    expect(frame.message.result).toEqual({ n: 1 })
    expect(frame.bytes.toString()).toBe('{"result":{"n":1},"jsonrpc":"2.0","id":"life1-1"}')
    expect(peer.pending).toBe(0)
  })

  test('answers in another order, in one piece or in many, reach their callers', async () => {
    const { peer, far, next } = connect()
    const answers = ['a', 'b', 'c'].map((method) => peer.request(method, undefined))
    const ids = [(await next()).id, (await next()).id, (await next()).id]
    const text = ids.toReversed().map((id) => `${JSON.stringify({ jsonrpc: '2.0', id, result: { id } })}\n`)
    for (const byte of Buffer.from(text.join(''))) far.write(Buffer.from([byte]))
    expect((await Promise.all(answers)).map((frame) => frame.message.result.id)).toEqual(ids)
  })

  test('an error answer is UPSTREAM_ERROR with the error in its cause', async () => {
    const { peer, send, next } = connect()
    const answer = peer.request('x', {})
    send({ jsonrpc: '2.0', id: (await next()).id, error: { code: -32000, message: 'no', data: [1] } })
    const error = await answer.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'UPSTREAM_ERROR', message: 'demo answered x with an error: no (-32000)' })
    expect(findRpcError(error)).toEqual({ code: -32000, message: 'no', data: [1] })
  })

  test('a deadline cancels and tells the other side; a late answer disturbs nobody', async () => {
    const { peer, send, next, clock } = connect()
    const answer = peer.request('slow', {}, { timeoutMs: 100 })
    const { id } = await next()
    clock.advance(100)
    await expect(answer).rejects.toMatchObject({ code: 'CALL_TIMEOUT' })
    expect(await next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } })
    send({ jsonrpc: '2.0', id, result: {} })
    const after = peer.request('next', {})
    send({ jsonrpc: '2.0', id: (await next()).id, result: { fine: true } })
    expect((await after).message.result).toEqual({ fine: true })
  })

  test('progress reaches the caller and restarts the deadline', async () => {
    const { peer, send, next, clock } = connect()
    const seen: unknown[] = []
    const answer = peer.request('slow', { _meta: { kept: 1 } }, { timeoutMs: 100, onProgress: (params) => seen.push(params.progress) })
    const sent = await next()
    expect(sent.params).toEqual({ _meta: { kept: 1, progressToken: sent.id } })
    for (const progress of [1, 2]) {
      clock.advance(80)
      send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: sent.id, progress } })
      await vi.waitFor(() => expect(seen).toContain(progress))
    }
    send({ jsonrpc: '2.0', id: sent.id, result: {} })
    await answer
    expect(seen).toEqual([1, 2])
  })

  test('a caller that gives up is told its own reason, and the other side that it is cancelled', async () => {
    const { peer, next } = connect()
    const abort = new AbortController()
    const answer = peer.request('slow', {}, { signal: abort.signal })
    const { id } = await next()
    abort.abort()
    await expect(answer).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
    expect(await next()).toMatchObject({ params: { requestId: id } })
    await expect(peer.request('later', {}, { signal: abort.signal })).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
  })

  test('what must not be cancelled is given up in silence', async () => {
    const { peer, next, clock } = connect()
    const answer = peer.request('initialize', {}, { timeoutMs: 5, cancellable: false })
    await next()
    clock.advance(5)
    await expect(answer).rejects.toMatchObject({ code: 'CALL_TIMEOUT' })
    peer.notify('marker')
    expect(await next()).toMatchObject({ method: 'marker' })
  })

  test('a package that does not read: what was not sent is withdrawn, and nothing grows', async () => {
    const { peer, channel, far, clock } = connect()
    far.pause()
    const text = 'x'.repeat(20_000)
    const calls = Array.from({ length: 50 }, () => peer.request('fill', { text }, { timeoutMs: 10 }))
    const settled = Promise.allSettled(calls)
    const waiting = channel.writableLength
    clock.advance(10)
    expect((await settled).every((call) => call.status === 'rejected' && call.reason.code === 'CALL_TIMEOUT')).toBe(true)
    expect(channel.writableLength).toBe(waiting)
    expect(waiting).toBeLessThan(200_000)
  })

  test('a request larger than a frame may be is refused before it is sent', async () => {
    const { peer, next } = connect()
    await expect(peer.request('big', { text: 'x'.repeat(100_000) })).rejects.toMatchObject({ code: 'FRAME_TOO_LARGE' })
    peer.notify('marker')
    expect(await next()).toMatchObject({ method: 'marker' })
  })

  test('an answer that is too large fails its call alone', async () => {
    const { peer, send, next } = connect()
    const large = peer.request('large', {})
    const small = peer.request('small', {})
    const [first, second] = [await next(), await next()]
    send({ jsonrpc: '2.0', result: { text: 'x'.repeat(150_000) }, id: first.id })
    send({ jsonrpc: '2.0', id: second.id, result: {} })
    await expect(large).rejects.toMatchObject({ code: 'FRAME_TOO_LARGE', message: expect.stringContaining('100000') })
    await small
  })

  test('the end of the channel fails what is under way at once, and what comes after', async () => {
    const { peer, far, next } = connect()
    const answer = peer.request('slow', {})
    await next()
    far.end()
    await expect(answer).rejects.toMatchObject({ code: 'PACKAGE_CRASHED' })
    await expect(peer.request('later', {})).rejects.toMatchObject({ code: 'PACKAGE_CRASHED' })
    expect(await peer.closed).toMatchObject({ code: 'PACKAGE_CRASHED' })
  })

  test('closing gives every call the reason and lets go of the channel', async () => {
    const { peer, channel, next } = connect()
    const answer = peer.request('slow', {})
    await next()
    const closed = once(channel, 'close')
    peer.close(Object.assign(new Error('stopped by hand'), { code: 'NOT_RUNNING' }))
    await expect(answer).rejects.toThrow('stopped by hand')
    await closed
  })
})

describe('the other side', () => {
  test('garbage between messages is counted, told once and skipped', async () => {
    const { peer, send, next, log } = connect()
    const answer = peer.request('x', {})
    const { id } = await next()
    for (const line of ['npm WARN something', '', '  ', '{"jsonrpc":"1.0"}', '{"half":', 'null', '[]']) send(line)
    send({ jsonrpc: '2.0', id, result: {} })
    await answer
    expect(peer.garbage).toEqual({ lines: 5, first: 'npm WARN something' })
    expect(log.warn).toHaveBeenCalledTimes(1)
  })

  test('a batch of messages is taken apart', async () => {
    const { peer, send, next } = connect()
    const answers = [peer.request('a', {}), peer.request('b', {})]
    const ids = [(await next()).id, (await next()).id]
    send(ids.map((id) => ({ jsonrpc: '2.0', id, result: { id } })))
    const frames = await Promise.all(answers)
    expect(frames.map((frame) => JSON.parse(frame.bytes.toString()).id)).toEqual(ids)
  })

  test('its requests are answered, and unknown ones refused', async () => {
    const { peer, send, next } = connect()
    send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    expect(await next()).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found: ping' } })
    peer.onRequest(async (method) => {
      if (method === 'ping') return {}
      if (method === 'bug') throw new Error('secret detail')
      throw createRpcFailure({ code: -32602, message: 'bad', data: 1 })
    })
    send({ jsonrpc: '2.0', id: 'x', method: 'ping' })
    expect(await next()).toEqual({ jsonrpc: '2.0', id: 'x', result: {} })
    send({ jsonrpc: '2.0', id: 2, method: 'other' })
    expect(await next()).toEqual({ jsonrpc: '2.0', id: 2, error: { code: -32602, message: 'bad', data: 1 } })
    send({ jsonrpc: '2.0', id: 3, method: 'bug' })
    expect(await next()).toEqual({ jsonrpc: '2.0', id: 3, error: { code: -32603, message: 'Internal error' } })
  })

  test('a request that it cancels is aborted and not answered', async () => {
    const { peer, send, next } = connect()
    const aborted = Promise.withResolvers<void>()
    peer.onRequest(
      (_method, _params, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted.resolve()
            resolve({ late: true })
          })
        }),
    )
    send({ jsonrpc: '2.0', id: 9, method: 'sampling/createMessage' })
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } })
    await aborted.promise
    peer.notify('marker')
    expect(await next()).toMatchObject({ method: 'marker' })
  })

  test('one that floods requests and reads no answers is no longer read', async () => {
    const { channel, far, send } = connect()
    far.pause()
    const flood = () => {
      for (let id = 0; id < 5_000; id++) send({ jsonrpc: '2.0', id, method: 'x'.repeat(200) })
    }
    flood()
    await vi.waitFor(() => expect(channel.isPaused()).toBe(true))
  })

  test('notifications arrive with their frame', async () => {
    const { peer, send } = connect()
    const seen = Promise.withResolvers<string>()
    peer.onNotification((method, _params, frame) => seen.resolve(`${method} ${frame.bytes}`))
    send('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
    expect(await seen.promise).toBe('notifications/tools/list_changed {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
  })
})

describe('an adopted channel', () => {
  test.each([
    ['the rest of a cut line is dropped', 'xt":"a } b"}},"jsonrpc":"2.0","id":"life0-9"}\n'],
    ['a whole late answer is not taken for one of this life', '{"result":{},"jsonrpc":"2.0","id":"life0-1"}\n'],
    ['nothing was left', ''],
  ])('%s', async (_name, left) => {
    const { peer, far, lines, send, next } = connect({ adopted: true })
    far.write(left)
    const answer = peer.request('ping', {})
    expect((await lines.next()).value).toBe('')
    send({ jsonrpc: '2.0', id: (await next()).id, result: { alive: true } })
    expect((await answer).message.result).toEqual({ alive: true })
    expect(peer.garbage.lines).toBe(0)
  })
})
