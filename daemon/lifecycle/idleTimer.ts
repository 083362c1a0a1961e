import type { Clock } from '../core/ports.ts'

export interface IdleTimer extends Disposable {
  /** A call came in. */
  touch(): void
  isIdle(): boolean
}

/** Calls `onIdle` when nothing came in for `idleMs` and nothing is under way, and again after each further `idleMs` of that. */
export function startIdleTimer(options: { clock: Clock; idleMs: number; isBusy: () => boolean; onIdle: () => void }): IdleTimer {
  const { clock, idleMs, isBusy, onIdle } = options
  let lastAt = clock.now()
  const left = () => {
    if (isBusy()) lastAt = clock.now()
    return lastAt + idleMs - clock.now()
  }
  const check = () => {
    const ms = left()
    cancel = clock.after(ms > 0 ? ms : idleMs, check)
    if (ms <= 0) onIdle()
  }
  let cancel = clock.after(idleMs, check)
  return {
    touch() {
      lastAt = clock.now()
    },
    isIdle: () => left() <= 0,
    [Symbol.dispose]: () => cancel(),
  }
}
