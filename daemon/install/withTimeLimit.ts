import { PkgdError } from '../core/errors.ts'
import type { Clock, OperationContext } from '../core/ports.ts'

/** Runs the body with a signal that also aborts when the time is over; the error then says so. */
export async function withTimeLimit<C extends OperationContext, T>(
  limit: { readonly clock: Clock; readonly ms: number },
  context: C,
  body: (context: C) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const cancel = limit.clock.after(limit.ms, () => {
    const seconds = Math.round(limit.ms / 1000)
    over.abort(
      new PkgdError('DEPENDENCY_INSTALL_FAILED', `The install took longer than ${seconds} s`, {
        hint: 'raise install.timeout in pkgd.yaml',
      }),
    )
  })
  try {
    return await body({ ...context, signal: AbortSignal.any([context.signal, over.signal]) })
  } finally {
    cancel()
  }
}
