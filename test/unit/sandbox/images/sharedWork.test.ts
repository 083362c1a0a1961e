import { describe, expect, it } from 'vitest'
import type { OperationContext, Progress } from '../../../../daemon/core/ports.ts'
import { createSharedWork } from '../../../../sandbox/images/sharedWork.ts'

function createAsker() {
  const stop = new AbortController()
  const seen: Progress[] = []
  const context: OperationContext = { signal: stop.signal, progress: (progress) => seen.push(progress) }
  return { context, seen, cancel: () => stop.abort(new Error('cancelled')) }
}

/** Work that ends when the test says so, and counts how often it was begun and stopped. */
function createWork() {
  const done = Promise.withResolvers<string>()
  const counts = { begun: 0, stopped: 0 }
  let tell: (progress: Progress) => void = () => undefined
  const work = ({ signal, progress }: OperationContext) => {
    counts.begun += 1
    tell = progress
    return new Promise<string>((resolve, reject) => {
      done.promise.then(resolve, reject)
      signal.addEventListener('abort', () => {
        counts.stopped += 1
        setImmediate(() => reject(signal.reason))
      })
    })
  }
  return { work, counts, finish: done.resolve, fail: done.reject, tell: (stage: string) => tell({ stage }) }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('shared work', () => {
  it('is done once for all who ask at the same time, and again for who asks later', async () => {
    const share = createSharedWork<string>()
    const { work, counts, finish } = createWork()
    const answers = [share('a', createAsker().context, work), share('a', createAsker().context, work)]
    await turn()
    finish('done')
    expect(await Promise.all(answers)).toEqual(['done', 'done'])
    expect(counts.begun).toBe(1)
    await share('a', createAsker().context, work)
    expect(counts.begun).toBe(2)
  })

  it('shows its progress to all, the latest to who comes later', async () => {
    const share = createSharedWork<string>()
    const { work, tell, finish } = createWork()
    const [first, second] = [createAsker(), createAsker()]
    const one = share('a', first.context, work)
    await turn()
    tell('begun')
    const two = share('a', second.context, work)
    tell('nearly')
    finish('done')
    await Promise.all([one, two])
    expect(first.seen.map(({ stage }) => stage)).toEqual(['begun', 'nearly'])
    expect(second.seen.map(({ stage }) => stage)).toEqual(['begun', 'nearly'])
  })

  it('goes on for the others when one cancels', async () => {
    const share = createSharedWork<string>()
    const { work, counts, finish } = createWork()
    const [first, second] = [createAsker(), createAsker()]
    const one = share('a', first.context, work)
    const two = share('a', second.context, work)
    await turn()
    first.cancel()
    await expect(one).rejects.toThrow('cancelled')
    finish('done')
    expect(await two).toBe('done')
    expect(counts).toEqual({ begun: 1, stopped: 0 })
  })

  it('is stopped when the last one cancels, who waits for it, and begun anew by the next', async () => {
    const share = createSharedWork<string>()
    const { work, counts, finish } = createWork()
    const asker = createAsker()
    const one = share('a', asker.context, work)
    await turn()
    asker.cancel()
    const next = share('a', createAsker().context, work)
    await expect(one).rejects.toThrow('cancelled')
    finish('done')
    expect(await next).toBe('done')
    expect(counts).toEqual({ begun: 2, stopped: 1 })
  })

  it('fails for all', async () => {
    const share = createSharedWork<string>()
    const { work, fail } = createWork()
    const answers = [share('a', createAsker().context, work), share('a', createAsker().context, work)]
    await turn()
    fail(new Error('broken'))
    const settled = await Promise.allSettled(answers)
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  it('is not begun for who has cancelled before', async () => {
    const { work, counts } = createWork()
    const asker = createAsker()
    asker.cancel()
    await expect(createSharedWork<string>()('a', asker.context, work)).rejects.toThrow('cancelled')
    expect(counts.begun).toBe(0)
  })
})
