import { auditArchitecture, deniedCalls, type FilterArchitecture, inspectedCalls } from './syscallTable.ts'

/** One instruction of classic BPF: `struct sock_filter` of linux/filter.h. */
export interface Instruction {
  readonly code: number
  readonly jt: number
  readonly jf: number
  readonly k: number
}

/** BPF_LD|BPF_W|BPF_ABS, BPF_JMP|{JEQ,JGE,JSET}|BPF_K, BPF_RET|BPF_K of linux/bpf_common.h. */
export const opcode = { load: 0x20, jumpEqual: 0x15, jumpGreaterOrEqual: 0x35, jumpAnySet: 0x45, return: 0x06 } as const

const eperm = 1
const enosys = 38
/** SECCOMP_RET_* of linux/seccomp.h. */
export const action = { kill: 0x80000000, allow: 0x7fff0000, refuse: 0x00050000 | eperm, unknown: 0x00050000 | enosys } as const

/** Offsets in `struct seccomp_data`: the call's number, the architecture, the low half of argument n (both machines are little-endian). */
const offset = { number: 0, architecture: 4, argument: (n: number) => 16 + 8 * n } as const

/** Calls of the x32 ABI have this bit: another table of numbers, so none of them is let through. */
const x32Bit = 0x40000000
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const namespaceFlags = 0x7e020000
/** AF_ALG and AF_VSOCK: the kernel's crypto and the hypervisor, neither of them inside the network's namespace. */
const deniedFamilies = [38, 40]
/** TIOCSTI and TIOCLINUX: typing into somebody else's terminal. */
const deniedRequests = [0x5412, 0x541c]
/** PER_LINUX, PER_LINUX32, each with UNAME26 too, and the question for the present one. */
const allowedPersonalities = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff]

const load = (k: number): Instruction => ({ code: opcode.load, jt: 0, jf: 0, k })
const finish = (k: number): Instruction => ({ code: opcode.return, jt: 0, jf: 0, k })
/** Goes on with `then` when it holds, else past it. */
const when = (code: number, k: number, then: readonly Instruction[]): Instruction[] => [{ code, jt: 0, jf: then.length, k }, ...then]
const whenEqual = (k: number, then: readonly Instruction[]) => when(opcode.jumpEqual, k, then)

/** A deny-list: what is named is refused as if it were not permitted, the rest is allowed, another architecture's calls end the process. */
export function toSeccompFilter(architecture: FilterArchitecture): Instruction[] {
  const column = architecture === 'x64' ? 0 : 1
  const refuse = [finish(action.refuse)]
  const inspect = (call: keyof typeof inspectedCalls, body: readonly Instruction[]) => whenEqual(inspectedCalls[call][column], body)
  return [
    load(offset.architecture),
    { code: opcode.jumpEqual, jt: 1, jf: 0, k: auditArchitecture[architecture] },
    finish(action.kill),
    load(offset.number),
    ...(architecture === 'x64' ? when(opcode.jumpGreaterOrEqual, x32Bit, refuse) : []),
    ...Object.values(deniedCalls).flatMap((numbers) => (numbers[column] === null ? [] : whenEqual(numbers[column], refuse))),
    // Its flags are in memory, where a filter cannot look: libraries fall back to clone when it is not there.
    ...inspect('clone3', [finish(action.unknown)]),
    ...inspect('clone', [load(offset.argument(0)), ...when(opcode.jumpAnySet, namespaceFlags, refuse), finish(action.allow)]),
    ...inspect('socket', [
      load(offset.argument(0)),
      ...deniedFamilies.flatMap((family) => whenEqual(family, refuse)),
      finish(action.allow),
    ]),
    ...inspect('ioctl', [
      load(offset.argument(1)),
      ...deniedRequests.flatMap((request) => whenEqual(request, refuse)),
      finish(action.allow),
    ]),
    ...inspect('personality', [
      load(offset.argument(0)),
      ...allowedPersonalities.flatMap((personality) => whenEqual(personality, [finish(action.allow)])),
      ...refuse,
    ]),
    finish(action.allow),
  ]
}

/** The program as the kernel takes it: 8 bytes an instruction, little-endian. */
export function encodeFilter(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(({ code, jt, jf, k }, index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(jt, index * 8 + 2)
    bytes.writeUInt8(jf, index * 8 + 3)
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4)
  })
  return bytes
}

/** The architecture's filter, or undefined on a machine that none is written for. */
export function pickFilterArchitecture(arch: string): FilterArchitecture | undefined {
  return arch === 'x64' || arch === 'arm64' ? arch : undefined
}
