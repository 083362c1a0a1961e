import type { Manifest } from '../../../registry/manifest/manifest.ts'
import { ecosystemsOf } from '../../../registry/manifest/splitDependencies.ts'
import type { ImageRequest } from '../../../sandbox/sandboxDriver.ts'

/** What a package runs on: the image that it names, else the runtime of its command, else the one whose dependencies it has, else node. */
export function pickImage(manifest: Manifest): ImageRequest {
  if (manifest.sandbox.image !== undefined) return { reference: manifest.sandbox.image }
  const byCommand = ecosystemsOf(manifest.entry.command, {})
  if (byCommand.python !== byCommand.node) return { runtime: byCommand.python ? 'python' : 'node' }
  const { python, node, pypi, npm } = manifest.dependencies
  if (node !== undefined || npm.length > 0) return { runtime: 'node' }
  return { runtime: python !== undefined || pypi.length > 0 ? 'python' : 'node' }
}

export const describeImage = (request: ImageRequest): string =>
  'reference' in request ? request.reference : `the ${request.runtime} runtime`
