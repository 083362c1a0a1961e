import type { SandboxDriver } from '../../../sandbox/sandboxDriver.ts'
import type { Request } from './listRequests.ts'

/** Requests of a package that is new under its id, with what they do not say of themselves: that /data is not empty where an uninstalled package of this id left its own. */
export async function sayLeftData(
  driver: { readonly volumes: Pick<SandboxDriver['volumes'], 'list'> },
  requests: readonly Request[],
): Promise<readonly Request[]> {
  if (!requests.some(({ kind }) => kind === 'data')) return requests
  const left = new Set((await driver.volumes.list()).map(({ packageId }) => packageId))
  return requests.map((request) =>
    request.kind === 'data' && left.has(request.packageId)
      ? { ...request, text: `${request.text}, where a ${request.packageId} that was uninstalled left its own` }
      : request,
  )
}
