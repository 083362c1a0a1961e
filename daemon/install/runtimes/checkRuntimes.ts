import semver from 'semver'
import type { Manifest } from '../../../registry/manifest/manifest.ts'
import { satisfiesPythonRange } from '../../../registry/manifest/pythonRange.ts'
import type { PreparedImage } from '../../../sandbox/sandboxDriver.ts'
import { PkgdError } from '../../core/errors.ts'
import { describeImage } from './pickImage.ts'

/** Refuses a package whose runtime range the image does not satisfy. A runtime that the image does not name is left to the start. */
export function checkRuntimes(manifest: Manifest, image: PreparedImage): void {
  const { python, node } = manifest.dependencies
  const refuse = (runtime: string, range: string, found: string) => {
    throw new PkgdError(
      'RUNTIME_UNSUPPORTED',
      `${manifest.id} needs ${runtime} ${range}, and ${describeImage(image.request)} has ${found}`,
      {
        hint: `name another image for ${runtime} under images in pkgd.yaml, or a version of ${manifest.id} for ${runtime} ${found}`,
        issues: [{ pointer: `/dependencies/${runtime}`, message: `${range} does not take ${found}`, rule: 'range' }],
      },
    )
  }
  const { node: hasNode, python: hasPython } = image.runtimes
  if (node !== undefined && hasNode !== undefined && !semver.satisfies(hasNode, node, { includePrerelease: true }))
    refuse('node', node, hasNode)
  if (python !== undefined && hasPython !== undefined && !satisfiesPythonRange(hasPython, python)) refuse('python', python, hasPython)
}
