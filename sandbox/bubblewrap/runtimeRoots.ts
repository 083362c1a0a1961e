import { PkgdError } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import type { ImageBuilder, PreparedRoot } from '../images/imageBuilder.ts'
import type { ImageRequest, PreparedImage } from '../sandboxDriver.ts'

/** The root directories that sandboxes are made from: this host's runtimes, and nothing that would have to be pulled. */
export interface RuntimeRoots {
  /** Errors: IMAGE_UNAVAILABLE. */
  prepare(request: ImageRequest, operation: OperationContext): Promise<PreparedImage>
  /** The directory of a prepared image. Errors: IMAGE_UNAVAILABLE. */
  locate(image: PreparedImage, operation: OperationContext): Promise<string>
}

export function createRuntimeRoots(images: ImageBuilder): RuntimeRoots {
  const paths = new Map<string, string>()

  async function prepareRoot(request: ImageRequest, operation: OperationContext): Promise<PreparedRoot> {
    if ('reference' in request) {
      throw new PkgdError(
        'IMAGE_UNAVAILABLE',
        `The image ${request.reference} needs a container engine: without one there are only the runtimes of this host`,
        {
          hint: 'leave sandbox.image out of the manifest, or use PKGD_DRIVER=docker',
        },
      )
    }
    const root = await images.prepareRoot(request.runtime, operation)
    paths.set(toId(root), root.path)
    return root
  }

  return {
    async prepare(request, operation) {
      const root = await prepareRoot(request, operation)
      return { id: toId(root), request, origin: root.origin, runtimes: root.runtimes }
    },
    async locate(image, operation) {
      const known = paths.get(image.id)
      if (known !== undefined) return known
      const root = await prepareRoot(image.request, operation)
      if (toId(root) === image.id) return root.path
      throw new PkgdError('IMAGE_UNAVAILABLE', `The image ${image.id} is no longer there: the runtimes of this host have changed`, {
        hint: 'start the package again',
      })
    },
  }
}

const toId = ({ runtime, key }: PreparedRoot): string => `${runtime}-${key}`
