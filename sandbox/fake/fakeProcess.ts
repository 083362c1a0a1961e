import { type Duplex, duplexPair } from 'node:stream'
import type { Clock } from '../../daemon/core/ports.ts'
import type { SandboxExit } from '../../daemon/core/types.ts'
import type { DialTarget, LaunchSpec } from '../sandboxDriver.ts'
import type { FakeLog } from './fakeLog.ts'
import type { FakeProgram } from './fakeProgram.ts'
import { createMemoryPipe } from './memoryPipe.ts'
import { createPipeDuplex } from './pipeDuplex.ts'

/** A running program: what the kernel is to a real one. */
export interface FakeProcess {
  readonly exit: Promise<SandboxExit>
  readonly ended: SandboxExit | null
  readonly memoryBytes: number
  /** The outside of its stdin and stdout. */
  open(): Duplex
  signal(name: string): void
  killForMemory(): void
  freeze(): void
  thaw(): void
  dial(target: DialTarget): Duplex
}

export interface FakeProcessOptions {
  readonly program: FakeProgram
  readonly spec: Pick<LaunchSpec, 'command' | 'env' | 'mounts' | 'limits'>
  readonly log: FakeLog
  readonly clock: Clock
}

const addressOf = (target: DialTarget) => ('port' in target ? `port ${target.port}` : target.socket)

export function startFakeProcess({ program, spec, log, clock }: FakeProcessOptions): FakeProcess {
  const stdin = createMemoryPipe()
  const stdout = createMemoryPipe()
  const listeners = new Map<string, (connection: Duplex) => void>()
  const killed = new AbortController()
  const { promise: exit, resolve } = Promise.withResolvers<SandboxExit>()
  let ended: SandboxExit | null = null
  let memoryBytes = 4096
  let onTerm: (() => void) | null = null
  let frozen: { readonly thawed: Promise<void>; readonly resolve: () => void } | null = null
  let pendingTerm = false

  const stdio = createPipeDuplex({ from: stdin, to: stdout }, async () => frozen?.thawed)
  stdio.on('error', () => stdio.destroy())

  const end = (as: SandboxExit) => {
    if (ended) return
    ended = as
    frozen?.resolve()
    killed.abort(new Error('The program was killed'))
    stdio.destroy()
    log.end()
    resolve(as)
  }
  const at = () => new Date(clock.now()).toISOString()
  const term = () => {
    if (onTerm) onTerm()
    else end({ kind: 'signal', signal: 'SIGTERM', at: at() })
  }

  const run = async () => {
    try {
      const code = await program({
        argv: spec.command,
        env: spec.env,
        mounts: spec.mounts,
        stdio,
        stderr: (line) => ended || log.append('stderr', line),
        onTerm: (handler) => {
          onTerm = handler
        },
        killed: killed.signal,
        listen: (target, accept) => listeners.set(addressOf(target), accept),
        allocate(bytes) {
          memoryBytes += bytes
          if (memoryBytes > spec.limits.memoryBytes) end({ kind: 'oom', at: at() })
        },
        sleep: (ms) =>
          new Promise((done, fail) => {
            const cancel = clock.after(ms, done)
            killed.signal.addEventListener('abort', () => {
              cancel()
              fail(killed.signal.reason)
            })
          }),
      })
      end({ kind: 'exit', code, at: at() })
    } catch (error) {
      if (!ended) log.append('stderr', String(error))
      end({ kind: 'exit', code: 1, at: at() })
    }
  }
  queueMicrotask(run)

  return {
    exit,
    get ended() {
      return ended
    },
    get memoryBytes() {
      return ended ? 0 : memoryBytes
    },
    open: () => createPipeDuplex({ from: stdout, to: stdin }),
    signal(name) {
      if (name !== 'SIGTERM') end({ kind: 'signal', signal: name, at: at() })
      else if (frozen) pendingTerm = true
      else term()
    },
    killForMemory: () => end({ kind: 'oom', at: at() }),
    freeze() {
      const { promise, resolve: thaw } = Promise.withResolvers<void>()
      frozen ??= { thawed: promise, resolve: thaw }
    },
    thaw() {
      frozen?.resolve()
      frozen = null
      if (pendingTerm) term()
      pendingTerm = false
    },
    dial(target) {
      const accept = ended ? undefined : listeners.get(addressOf(target))
      if (!accept) throw Object.assign(new Error(`Nothing listens on ${addressOf(target)}`), { code: 'ECONNREFUSED' })
      const [inside, outside] = duplexPair()
      killed.signal.addEventListener('abort', () => inside.destroy(), { once: true })
      accept(inside)
      return outside
    },
  }
}
