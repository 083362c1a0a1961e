import { findCoded, PkgdError } from '../../daemon/core/errors.ts'
import type { Logger, OperationContext } from '../../daemon/core/ports.ts'
import type { ImageBuilder, PreparedRoot } from '../images/imageBuilder.ts'
import { imageEnv } from '../images/imageEnv.ts'
import type { Runtime } from '../images/imageSources.ts'
import { createSharedWork } from '../images/sharedWork.ts'
import type { ImageRequest, PreparedImage } from '../sandboxDriver.ts'
import type { EngineApi, ImageDetails, PullProgress } from './engineApi.ts'

export interface DockerImages {
  /** Errors: IMAGE_UNAVAILABLE, ENGINE_UNREACHABLE, DISK_FULL. Two who ask for the same at once wait for one. */
  prepare(request: ImageRequest, context: OperationContext): Promise<PreparedImage>
}

export interface DockerImagesDeps {
  readonly api: EngineApi
  readonly builder: ImageBuilder
  /** Images to pull for the runtimes, by digest where the operator wants them fixed. */
  readonly references: Readonly<Partial<Record<Runtime, string>>>
  readonly log: Logger
}

const runtimesLabel = 'io.pkgd.runtimes'

export function createDockerImages({ api, builder, references, log }: DockerImagesDeps): DockerImages {
  const share = createSharedWork<PreparedImage>()

  async function pull(request: ImageRequest, reference: string, context: OperationContext): Promise<PreparedImage> {
    const present = await api.inspectImage(reference)
    if (present) return toPrepared(request, present, 'cached')
    context.progress({ stage: 'pull', message: reference })
    const onProgress = createPullProgress(reference, context)
    try {
      await api.pullImage(toPullReference(reference), onProgress, context.signal)
    } catch (error) {
      context.signal.throwIfAborted()
      if (findCoded(error)?.code === 'ENGINE_UNREACHABLE' || findCoded(error)?.code === 'DISK_FULL') throw error
      throw new PkgdError('IMAGE_UNAVAILABLE', `The image ${reference} could not be pulled`, {
        cause: error,
        hint: "check its name and that the engine reaches the image's registry",
      })
    }
    const pulled = await api.inspectImage(reference)
    if (!pulled) throw new PkgdError('IMAGE_UNAVAILABLE', `The image ${reference} was pulled, but the engine does not have it`)
    return toPrepared(request, pulled, 'pulled')
  }

  async function build(request: ImageRequest, runtime: Runtime, context: OperationContext): Promise<PreparedImage> {
    const { key } = await builder.describe(runtime)
    const repository = `pkgd/${runtime}`
    const reference = `${repository}:${key}`
    const present = await api.inspectImage(reference)
    if (present) return toPrepared(request, present, 'cached')
    const root = await builder.prepareRoot(runtime, context)
    context.progress({ stage: 'build', message: `the ${runtime} image, into the engine` })
    await api.importImage(builder.writeTar(root), { repository, tag: key, changes: toChanges(root) }, context.signal)
    const imported = await api.inspectImage(reference)
    if (!imported) throw new PkgdError('IMAGE_UNAVAILABLE', `The image ${reference} was imported, but the engine does not have it`)
    await builder.discard(root)
    await removeFormer(runtime, key)
    return toPrepared(request, imported, 'built')
  }

  /** Roots that this home was built before and that nothing is made from any more; the engine keeps an image that a container still uses. */
  async function removeFormer(runtime: Runtime, key: string): Promise<void> {
    const others = await Promise.all(
      (['node', 'python'] as const).filter((other) => other !== runtime).map((other) => builder.describe(other)),
    )
    const removed = await builder.sweep(new Set([key, ...others.map((other) => other.key)]))
    for (const former of removed) {
      log.info('Removing a runtime image that is no longer used', { runtime: former.runtime, key: former.key })
      await api.removeImage(`pkgd/${former.runtime}:${former.key}`)
    }
  }

  async function prepareRuntime(request: ImageRequest, runtime: Runtime, context: OperationContext): Promise<PreparedImage> {
    const reference = references[runtime]
    if (reference === undefined) return build(request, runtime, context)
    try {
      return await pull(request, reference, context)
    } catch (error) {
      if (findCoded(error)?.code !== 'IMAGE_UNAVAILABLE') throw error
      log.warn('The configured runtime image is out of reach; one is built from this host instead', {
        runtime,
        reference,
        error: String(error),
      })
      return build(request, runtime, context)
    }
  }

  return {
    prepare: (request, context) =>
      share(JSON.stringify(request), context, (shared) =>
        'runtime' in request ? prepareRuntime(request, request.runtime, shared) : pull(request, request.reference, shared),
      ),
  }
}

/** Without a tag or digest the engine would pull every tag there is. */
export function toPullReference(reference: string): string {
  if (reference.includes('@')) return reference
  const name = reference.slice(reference.lastIndexOf('/') + 1)
  return name.includes(':') ? reference : `${reference}:latest`
}

function toChanges(root: PreparedRoot): string[] {
  const runtimes = Object.entries(root.runtimes).map(([name, version]) => `${name}=${version}`)
  return [
    ...Object.entries(imageEnv).map(([name, value]) => `ENV ${name}=${value}`),
    `LABEL ${runtimesLabel}="${runtimes.join(' ')}"`,
    'WORKDIR /app',
    'CMD ["/bin/sh"]',
  ]
}

function toPrepared(request: ImageRequest, image: ImageDetails, origin: PreparedImage['origin']): PreparedImage {
  return { id: image.Id, request, origin, runtimes: parseRuntimes(image.Config.Labels ?? {}, image.Config.Env ?? []) }
}

/** Our own label, else the variables by which the official Node and Python images tell their version. */
export function parseRuntimes(labels: Readonly<Record<string, string>>, env: readonly string[]): Record<string, string> {
  const runtimes: Record<string, string> = {}
  for (const line of env) {
    const found = /^(NODE|PYTHON)_VERSION=v?([0-9.]+)/.exec(line)
    if (found?.[1] && found[2]) runtimes[found[1].toLowerCase()] = found[2]
  }
  for (const pair of (labels[runtimesLabel] ?? '').split(' ')) {
    const [name, version] = pair.split('=')
    if (name && version) runtimes[name] = version
  }
  return runtimes
}

/** Layers' bytes as one fraction. The total grows as layers are found, so the fraction is held from going back. */
function createPullProgress(reference: string, context: OperationContext): (line: PullProgress) => void {
  const layers = new Map<string, { current: number; total: number }>()
  let shown = 0
  return ({ id, status, progressDetail }) => {
    if (!id || status !== 'Downloading' || !progressDetail?.total) return
    layers.set(id, { current: progressDetail.current ?? 0, total: progressDetail.total })
    const sums = [...layers.values()].reduce((sum, layer) => ({ current: sum.current + layer.current, total: sum.total + layer.total }))
    const fraction = Math.min(1, sums.current / sums.total)
    if (fraction < shown + 0.01) return
    shown = fraction
    context.progress({ stage: 'pull', message: reference, fraction })
  }
}
