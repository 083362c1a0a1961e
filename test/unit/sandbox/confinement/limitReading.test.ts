import { describe, expect, it } from 'vitest'
import { checkEnforced, limitStep, readLimit } from '../../../../sandbox/confinement/limitReading.ts'
import type { LimitName, SandboxReport } from '../../../../sandbox/sandboxDriver.ts'

describe('readLimit', () => {
  it.each([
    { why: 'the kernel has it', asked: 100, engine: 100, effective: 100, enforced: true },
    { why: 'the kernel has another', asked: 100, engine: 100, effective: 200, enforced: false },
    { why: 'the kernel has none', asked: 100, engine: 100, effective: Number.POSITIVE_INFINITY, enforced: false },
    { why: 'the kernel is out of reach, the engine was told', asked: 100, engine: 100, effective: null, enforced: true },
    { why: 'the kernel is out of reach, the engine was not told', asked: 100, engine: null, effective: null, enforced: false },
  ])('$why: $enforced', ({ asked, engine, effective, enforced }) => {
    const reading = readLimit(asked, engine, effective, limitStep.pids)
    expect(reading.enforced).toBe(enforced)
    expect(reading.effective).toBe(effective === Number.POSITIVE_INFINITY ? null : effective)
  })

  it('takes what the kernel rounds to pages', () => {
    expect(readLimit(100_000_001, 100_000_001, 100_000_001 - (100_000_001 % 4096), limitStep.memory).enforced).toBe(true)
  })
})

describe('checkEnforced', () => {
  const report = (broken: readonly LimitName[]): SandboxReport => {
    const reading = (name: LimitName) => ({
      asked: 64,
      engine: 64,
      effective: broken.includes(name) ? 999 : 64,
      enforced: !broken.includes(name),
    })
    return {
      limits: { memory: reading('memory'), cpu: reading('cpu'), pids: reading('pids'), tmp: reading('tmp') },
      readOnlyRoot: true,
      capabilities: [],
      noNewPrivileges: true,
      seccomp: true,
      user: '200000:200000',
      init: true,
      network: 'none',
      image: 'sha256:0',
    }
  }

  it('passes what is enforced', () => {
    expect(() => checkEnforced(report([]), 'weather', [])).not.toThrow()
  })

  it('names the package, the limit and both numbers', () => {
    expect(() => checkEnforced(report(['pids']), 'weather', [])).toThrow(
      expect.objectContaining({ code: 'LIMIT_NOT_ENFORCED', message: expect.stringMatching(/pids.*weather.*64.*999/) }),
    )
  })

  it('lets pass what the operator lets pass, and nothing else', () => {
    expect(() => checkEnforced(report(['cpu']), 'weather', ['cpu'])).not.toThrow()
    expect(() => checkEnforced(report(['cpu', 'memory']), 'weather', ['cpu'])).toThrow(/memory/)
  })
})
