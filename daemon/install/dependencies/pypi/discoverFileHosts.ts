import type { IndexFile } from '../../../../registry/fetch/pypi/indexFile.ts'
import type { Logger, OperationContext } from '../../../core/ports.ts'
import { needsDiscovery, projectOf } from './indexReach.ts'
import type { PipConfig } from './pipConfig.ts'

/** The files of a project in one index, or undefined when it has none. */
export type ListFiles = (
  config: PipConfig,
  indexUrl: string,
  project: string,
  context: OperationContext,
) => Promise<readonly IndexFile[] | undefined>

/** Asks each index whose file host is not known for one of the required projects. An index that does not answer adds nothing: pip will say so itself. */
export async function discoverFileHosts(
  deps: { readonly logger: Logger; readonly listFiles: ListFiles },
  config: PipConfig,
  requirements: readonly string[],
  context: OperationContext,
): Promise<string[]> {
  if (config.proxy) return []
  const projects = requirements.map(projectOf).filter((project) => project !== undefined)
  const origins: string[] = []
  for (const index of [config.indexUrl, ...config.extraIndexUrls].filter(needsDiscovery)) {
    try {
      for (const project of projects) {
        const files = await deps.listFiles(config, index, project, context)
        if (!files || files.length === 0) continue
        origins.push(...files.map((file) => new URL(file.url).origin))
        break
      }
    } catch (error) {
      context.signal.throwIfAborted()
      const reason = error instanceof Error ? error.message : String(error)
      deps.logger.warn('An index did not say where its files are', { index: new URL(index).host, reason })
    }
  }
  return [...new Set(origins)]
}
