import { constants } from 'node:os'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toSandboxExit } from '../../../../sandbox/confinement/sandboxExit.ts'

const at = '2026-01-02T03:04:05Z'

describe('toSandboxExit', () => {
  it.each([
    { exitCode: 0, oomKilled: false, is: { kind: 'exit', code: 0 } },
    { exitCode: 1, oomKilled: false, is: { kind: 'exit', code: 1 } },
    { exitCode: 127, oomKilled: false, is: { kind: 'exit', code: 127 } },
    { exitCode: 128, oomKilled: false, is: { kind: 'exit', code: 128 } },
    { exitCode: 130, oomKilled: false, is: { kind: 'signal', signal: 'SIGINT' } },
    { exitCode: 134, oomKilled: false, is: { kind: 'signal', signal: 'SIGABRT' } },
    { exitCode: 137, oomKilled: false, is: { kind: 'signal', signal: 'SIGKILL' } },
    { exitCode: 137, oomKilled: true, is: { kind: 'oom' } },
    { exitCode: 137, oomKilled: true, killedByUs: true, is: { kind: 'signal', signal: 'SIGKILL' } },
    { exitCode: 139, oomKilled: false, is: { kind: 'signal', signal: 'SIGSEGV' } },
    { exitCode: 143, oomKilled: false, is: { kind: 'signal', signal: 'SIGTERM' } },
    // A child was killed for memory, the package itself ended otherwise.
    { exitCode: 1, oomKilled: true, is: { kind: 'exit', code: 1 } },
    { exitCode: 143, oomKilled: true, is: { kind: 'signal', signal: 'SIGTERM' } },
    { exitCode: 255, oomKilled: false, is: { kind: 'exit', code: 255 } },
  ])('$exitCode, oom $oomKilled: $is', ({ is, ...state }) => {
    expect(toSandboxExit({ finishedAt: at, ...state })).toEqual({ ...is, at })
  })

  it('gives every signal of this system a name that has its number', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(constants.signals)), (number) => {
        const exit = toSandboxExit({ exitCode: 128 + number, oomKilled: false, finishedAt: at })
        expect(exit.kind).toBe('signal')
        if (exit.kind === 'signal') expect(Object.entries(constants.signals)).toContainEqual([exit.signal, number])
      }),
    )
  })
})
