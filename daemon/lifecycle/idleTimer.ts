import type { Clock } from '../core/ports.ts'

export interface IdleTimer extends Disposable {
  /** A call came in. */
  touch(): void
}

/** Calls `onIdle` once when nothing came in for `idleMs` and nothing is under way. */
export function startIdleTimer(options: { clock: Clock; idleMs: number; isBusy: () => boolean; onIdle: () => void }): IdleTimer {
  const { clock, idleMs, isBusy, onIdle } = options
  let lastAt = clock.now()
  let cancel = () => {}
  const check = () => {
    if (isBusy()) lastAt = clock.now()
    const left = lastAt + idleMs - clock.now()
    if (left > 0) cancel = clock.after(left, check)
    else onIdle()
  }
  cancel = clock.after(idleMs, check)
  return {
    touch() {
      lastAt = clock.now()
    },
    [Symbol.dispose]: () => cancel(),
  }
}
