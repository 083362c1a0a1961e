import { expect, test } from 'vitest'
import { createCallDeadline } from '../../../../daemon/mcp/callDeadline.ts'
import { createManualClock } from '../manual.ts'

const never = new Promise<never>(() => {})
const create = (ms = 100) => {
  const clock = createManualClock()
  const caller = new AbortController()
  const deadline = createCallDeadline({ name: 'demo', method: 'tools/call', ms, signal: caller.signal, clock })
  return { clock, caller, deadline }
}

test('the time of all parts together is one, and the part under way is named', async () => {
  const { clock, deadline } = create()
  await deadline.wait('the package to run', async () => clock.advance(60))
  let given: AbortSignal | undefined
  const answer = deadline.wait('its answer', (signal) => {
    given = signal
    return never
  })
  clock.advance(40)
  await expect(answer).rejects.toMatchObject({
    code: 'CALL_TIMEOUT',
    message: 'tools/call of demo was not done within 100 ms: it was waiting for its answer',
  })
  expect(given?.reason).toMatchObject({ code: 'CALL_TIMEOUT' })
  await expect(deadline.wait('more', async () => 1)).rejects.toMatchObject({ code: 'CALL_TIMEOUT' })
})

test('progress begins the time anew', async () => {
  const { clock, deadline } = create()
  const answer = deadline.wait('its answer', async () => {
    for (let n = 0; n < 5; n++) {
      clock.advance(90)
      deadline.extend()
    }
    return 'done'
  })
  expect(await answer).toBe('done')
})

test("the caller's end is the call's, before it and during it", async () => {
  const { caller, deadline } = create()
  const answer = deadline.wait('its answer', () => never)
  caller.abort(new Error('gone'))
  await expect(answer).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
  const signal = AbortSignal.abort(new Error('gone'))
  using late = createCallDeadline({ name: 'demo', method: 'tools/call', ms: 1, signal, clock: createManualClock() })
  await expect(late.wait('its answer', async () => 1)).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
})

test('what was disposed of does not expire', () => {
  const { clock, deadline } = create()
  deadline[Symbol.dispose]()
  clock.advance(1_000)
  return expect(deadline.wait('x', async () => 'alive')).resolves.toBe('alive')
})
