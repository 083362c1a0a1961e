import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { action, encodeFilter, type Instruction, opcode, toSeccompFilter } from '../../../../sandbox/bubblewrap/seccompFilter.ts'
import { auditArchitecture, deniedCalls, inspectedCalls } from '../../../../sandbox/bubblewrap/syscallTable.ts'

interface Call {
  readonly number: number
  readonly architecture: number
  readonly args?: readonly number[]
}

/** Runs a program as the kernel would; a jump past its end or an unknown instruction throws. */
function run(program: readonly Instruction[], { number, architecture, args = [] }: Call): number {
  const data = new Map([[0, number], [4, architecture], ...args.map((arg, index): [number, number] => [16 + 8 * index, arg])])
  let accumulator = 0
  for (let at = 0; ; at++) {
    const instruction = program[at]
    if (!instruction) throw new Error(`no instruction ${at}`)
    const { code, jt, jf, k } = instruction
    const unsigned = accumulator >>> 0
    if (code === opcode.load) accumulator = data.get(k) ?? 0
    else if (code === opcode.return) return k
    else if (code === opcode.jumpEqual) at += unsigned === k ? jt : jf
    else if (code === opcode.jumpGreaterOrEqual) at += unsigned >= k ? jt : jf
    else if (code === opcode.jumpAnySet) at += (accumulator & k) !== 0 ? jt : jf
    else throw new Error(`unknown instruction ${code}`)
  }
}

describe.each(['x64', 'arm64'] as const)('the filter of %s', (machine) => {
  const program = toSeccompFilter(machine)
  const column = machine === 'x64' ? 0 : 1
  const architecture = auditArchitecture[machine]
  const call = (number: number, ...args: number[]) => run(program, { number, architecture, args })
  const of = (name: keyof typeof inspectedCalls) => inspectedCalls[name][column]

  it('refuses every call of the list', () => {
    for (const [name, numbers] of Object.entries(deniedCalls)) {
      if (numbers[column] !== null) expect([name, call(numbers[column])]).toEqual([name, action.refuse])
    }
  })

  it('allows the rest, and always comes to an end', () => {
    const named = new Set([
      ...Object.values(deniedCalls).map((numbers) => numbers[column]),
      ...Object.values(inspectedCalls).map((numbers) => numbers[column]),
    ])
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600 }), fc.nat({ max: 0xffffffff }), (number, argument) => {
        const verdict = call(number, argument, argument)
        if (!named.has(number)) expect(verdict).toBe(action.allow)
        expect(Object.values(action)).toContain(verdict)
      }),
    )
  })

  it('kills what another architecture calls', () => {
    expect(run(program, { number: 0, architecture: 0x40000003 })).toBe(action.kill)
    expect(run(program, { number: 0, architecture: machine === 'x64' ? auditArchitecture.arm64 : auditArchitecture.x64 })).toBe(action.kill)
  })

  it('lets a process fork and make threads, and no namespace', () => {
    expect(call(of('clone'), 0x01200011)).toBe(action.allow)
    expect(call(of('clone'), 0x003d0f00)).toBe(action.allow)
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(call(of('clone'), flag | 17)).toBe(action.refuse)
    }
    expect(call(of('clone3'))).toBe(action.unknown)
  })

  it('lets sockets of the network be made, and none of the hypervisor', () => {
    expect(call(of('socket'), 1)).toBe(action.allow)
    expect(call(of('socket'), 2)).toBe(action.allow)
    expect(call(of('socket'), 40)).toBe(action.refuse)
    expect(call(of('socket'), 38)).toBe(action.refuse)
  })

  it('refuses to type into a terminal and odd personalities', () => {
    expect(call(of('ioctl'), 0, 0x5401)).toBe(action.allow)
    expect(call(of('ioctl'), 0, 0x5412)).toBe(action.refuse)
    expect(call(of('personality'), 0xffffffff)).toBe(action.allow)
    expect(call(of('personality'), 0x0040000)).toBe(action.refuse)
  })

  it('is a program that the kernel takes: at most 4096 instructions, 8 bytes each', () => {
    expect(program.length).toBeLessThanOrEqual(4096)
    expect(encodeFilter(program).length).toBe(program.length * 8)
    expect(encodeFilter(program).readUInt32LE(4)).toBe(4)
  })
})

it('the x32 calls of x64 are refused', () => {
  expect(run(toSeccompFilter('x64'), { number: 0x40000000 | 39, architecture: auditArchitecture.x64 })).toBe(action.refuse)
})
