import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { findMainProcess } from '../../../../sandbox/bubblewrap/mainProcess.ts'
import { createOutputTail } from '../../../../sandbox/bubblewrap/outputTail.ts'
import { isAlive, parseStat, readProcess } from '../../../../sandbox/bubblewrap/processIdentity.ts'

const stat = (name: string, state: string) => `77 (${name}) ${state} 5 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1000 200`

describe('parseStat', () => {
  it('reads parent and start, whatever the process calls itself', () => {
    for (const name of ['node', 'a b', ') R 1 2', '((']) expect(parseStat(stat(name, 'S'))).toEqual({ parent: 5, startTicks: 123456 })
  })

  it('takes a zombie for gone', () => {
    expect(parseStat(stat('node', 'Z'))).toBeUndefined()
    expect(parseStat(stat('node', 'X'))).toBeUndefined()
  })
})

describe('a process', () => {
  it('is alive until it ends, and is told from another with its number', async () => {
    const child = spawn('sleep', ['60'])
    await once(child, 'spawn')
    const identity = await readProcess(child.pid ?? 0)
    if (!identity) throw new Error('it runs')
    expect(identity.parent).toBe(process.pid)
    expect((await findMainProcess(process.pid))?.pid).toBe(child.pid)
    expect(await isAlive(identity)).toBe(true)
    expect(await isAlive({ ...identity, startTicks: identity.startTicks - 1 })).toBe(false)
    expect(await isAlive({ ...identity, boot: 'another' })).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await isAlive(identity)).toBe(false)
    expect(await readProcess(identity.pid)).toBeUndefined()
  })
})

describe('createOutputTail', () => {
  it('keeps the last bytes, whatever comes', () => {
    const tail = createOutputTail(10)
    for (let number = 0; number < 1000; number++) tail.push(Buffer.from(`${number},`))
    expect(tail.read()).toBe('7,998,999,')
    expect(createOutputTail(10).read()).toBe('')
  })
})
