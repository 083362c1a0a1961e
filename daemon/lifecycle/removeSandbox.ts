import type { SandboxHandle } from '../../sandbox/sandboxDriver.ts'
import type { LifecycleDeps } from './lifecycleDeps.ts'

/** Removes a sandbox, running or not, and then its record: a record without a sandbox is harmless, a sandbox without a record is not. */
export async function removeSandbox(
  { driver, state }: Pick<LifecycleDeps, 'driver' | 'state'>,
  id: string,
  handle: SandboxHandle,
): Promise<void> {
  await driver.destroy(handle)
  if (state.sandboxes.get(id)?.handle.id === handle.id) state.sandboxes.remove(id)
}
