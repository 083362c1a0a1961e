import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { processStartedAt } from '../../../../daemon/core/processes.ts'

test('a process that runs has a beginning, one that does not has none', async () => {
  const before = Date.now()
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const startedAt = processStartedAt(pid)
  expect(Math.abs((startedAt ?? 0) - before)).toBeLessThan(2_000)
  expect(processStartedAt(pid)).toBe(startedAt)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(processStartedAt(pid)).toBeNull()
})

test.runIf(process.platform === 'linux')('a process that was killed is gone at once, also where it has not heard of it yet', async () => {
  // A stopped one stays as it is until the signal has woken it.
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  child.kill('SIGSTOP')
  child.kill('SIGKILL')
  expect(processStartedAt(child.pid ?? 0)).toBeNull()
  await once(child, 'exit')
})
