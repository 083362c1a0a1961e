import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { PkgdError } from '../../../../daemon/core/errors.ts'
import { withDeadline } from '../../../../daemon/lifecycle/withDeadline.ts'
import { createManualClock } from './manualClock.ts'

const expired = () => new PkgdError('HANDSHAKE_TIMEOUT', 'too late')
const never = new AbortController().signal

/** Runs a body that lasts until it is aborted and then does `onAbort`, past its deadline. */
async function runOut<T>(onAbort: () => Promise<T>, late?: (value: T) => void): Promise<unknown> {
  const clock = createManualClock()
  const failed = withDeadline<T>({ clock, ms: 1000, signal: never, expired, ...(late ? { late } : {}) }, async (signal) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    return onAbort()
  }).catch((error: unknown) => error)
  await clock.advance(1000)
  return failed
}

describe('at the deadline', () => {
  test('the error of a body that says more of the same is the one', async () => {
    const error = await runOut(async () => Promise.reject(new PkgdError('HANDSHAKE_TIMEOUT', 'too late', { hint: 'it wrote garbage' })))
    expect(error).toMatchObject({ code: 'HANDSHAKE_TIMEOUT', hint: 'it wrote garbage' })
  })

  test.each<[string, () => Promise<never>]>([
    ['something else', () => Promise.reject(new PkgdError('PROTOCOL_ERROR', 'cut off'))],
    ['without a code', () => Promise.reject(new Error('aborted'))],
    ['never', () => new Promise<never>(() => undefined)],
  ])('a body that fails with %s changes nothing', async (_name, onAbort) => {
    expect(await runOut(onAbort)).toMatchObject({ code: 'HANDSHAKE_TIMEOUT', message: 'too late' })
  })

  test('a result that comes too late goes where it is wanted', async () => {
    const late: string[] = []
    const error = await runOut(
      async () => {
        await nextTurn()
        return 'late'
      },
      (value) => late.push(value),
    )
    expect(error).toMatchObject({ message: 'too late' })
    await nextTurn()
    expect(late).toEqual(['late'])
  })
})

test('an abort from outside rejects at once with its own reason', async () => {
  const outside = new AbortController()
  const reason = new PkgdError('OPERATION_CANCELLED', 'cancelled')
  const failed = withDeadline({ clock: createManualClock(), ms: 1000, signal: outside.signal, expired }, () => new Promise(() => undefined))
  outside.abort(reason)
  await expect(failed).rejects.toBe(reason)
})
