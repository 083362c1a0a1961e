import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { create } from 'tar'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { Logger, OperationContext } from '../../daemon/core/ports.ts'
import { buildRoot } from './buildRoot.ts'
import { areUnchanged, findImageSources, type ImageSources, imageRecipe, type Runtime, toImageKey } from './imageSources.ts'
import { createSharedWork } from './sharedWork.ts'

/** What an image is, known before it is built. */
interface ImageDescription {
  readonly runtime: Runtime
  /** Equal keys are equal images; it changes with any file the image is made from. */
  readonly key: string
  /** Versions inside, e.g. `{ node: "26.10.0", python: "3.11.7" }`. Debian's Python, which is chosen while it is installed, is told once it is there. */
  readonly runtimes: Readonly<Record<string, string>>
}

/** A root directory that is ready to be used, read-only, by any number of sandboxes. */
export interface PreparedRoot extends ImageDescription {
  readonly path: string
  readonly origin: 'built' | 'cached'
}

export interface ImageBuilder {
  /** Cheap after the first time: the files behind it are looked at again, the search is not repeated. */
  describe(runtime: Runtime): Promise<ImageDescription>
  /** Finds the root directory cached or builds it, at once for everyone who asks at the same time. Errors: IMAGE_UNAVAILABLE, DISK_FULL. */
  prepareRoot(runtime: Runtime, context: OperationContext): Promise<PreparedRoot>
  /** The root directory as a tar stream whose files all belong to root. */
  writeTar(root: PreparedRoot): Readable
  /** Gives the disk back once the root has gone elsewhere, such as into an engine. Its key is still known to `sweep`; asked for again, it is built again. */
  discard(root: PreparedRoot): Promise<void>
  /** Removes what a dead process left half built, and every built root whose key is not in `keep`. Resolves with the removed keys by runtime. */
  sweep(keep: ReadonlySet<string>): Promise<{ runtime: Runtime; key: string }[]>
}

export interface ImageBuilderDeps {
  /** `$PKGD_HOME/images`. */
  readonly directory: string
  readonly log: Logger
  /** Where PATH and the host's certificates are looked up. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Makes runtime images from this host's own runtimes. */
export function createImageBuilder({ directory, log, env = process.env }: ImageBuilderDeps): ImageBuilder {
  const known = new Map<Runtime, ImageSources>()
  const building = new Set<string>()
  const share = createSharedWork<PreparedRoot>()

  async function sourcesOf(runtime: Runtime): Promise<ImageSources> {
    if (process.platform !== 'linux') {
      throw new PkgdError('IMAGE_UNAVAILABLE', `The ${runtime} image cannot be made from this host: its runtimes are not Linux programs`, {
        hint: `name one in pkgd.yaml (images: ${runtime}: …)`,
      })
    }
    const former = known.get(runtime) ?? (await recall(runtime))
    if (former && areUnchanged(former.files)) {
      known.set(runtime, former)
      return former
    }
    const sources = await findImageSources(runtime, env)
    known.set(runtime, sources)
    await remember(sources)
    return sources
  }

  const memory = (runtime: Runtime) => join(directory, `${runtime}.sources.json`)

  /** What a former daemon found; only if it would have looked in the same places in the same way. */
  async function recall(runtime: Runtime): Promise<ImageSources | undefined> {
    const text = await readFile(memory(runtime), 'utf8').catch(() => undefined)
    if (text === undefined) return undefined
    try {
      const { searched, sources } = JSON.parse(text) as { searched: unknown; sources: ImageSources }
      return JSON.stringify(searched) === JSON.stringify(places()) ? sources : undefined
    } catch (error) {
      log.warn('The list of image sources is damaged and is made anew', { runtime, error: String(error) })
      return undefined
    }
  }

  async function remember(sources: ImageSources): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const temporary = `${memory(sources.runtime)}.${randomBytes(4).toString('hex')}`
    await writeFile(temporary, JSON.stringify({ searched: places(), sources }), { mode: 0o600 })
    await rename(temporary, memory(sources.runtime))
  }

  const places = () => [
    imageRecipe,
    process.execPath,
    process.version,
    env.PATH ?? '',
    env.SSL_CERT_FILE ?? '',
    env.NODE_EXTRA_CA_CERTS ?? '',
  ]

  async function describe(runtime: Runtime): Promise<ImageDescription> {
    return toDescription(await sourcesOf(runtime))
  }

  async function prepareRoot(runtime: Runtime, context: OperationContext): Promise<PreparedRoot> {
    const sources = await sourcesOf(runtime)
    const description = toDescription(sources)
    const name = `${runtime}-${description.key}`
    const path = join(directory, name, 'rootfs')
    if (await isDirectory(path)) return { ...description, runtimes: await versionsIn(path, description), path, origin: 'cached' }
    return share(name, context, (shared) => build(sources, description, name, shared))
  }

  async function build(
    sources: ImageSources,
    description: ImageDescription,
    name: string,
    context: OperationContext,
  ): Promise<PreparedRoot> {
    const target = join(directory, name)
    const temporary = join(directory, `${name}.${randomBytes(4).toString('hex')}.tmp`)
    building.add(name)
    context.progress({ stage: 'build', message: `the ${description.runtime} image, from this host's runtimes` })
    log.info('Building a runtime image', { runtime: description.runtime, key: description.key })
    try {
      await mkdir(join(temporary, 'rootfs'), { recursive: true, mode: 0o755 })
      await buildRoot(sources, join(temporary, 'rootfs'), context.signal)
      await rename(temporary, target).catch(async (error: unknown) => {
        // Another daemon on this home's images was first: its result is the same.
        if (!(await isDirectory(join(target, 'rootfs')))) throw error
      })
    } finally {
      await rm(temporary, { recursive: true, force: true })
      building.delete(name)
    }
    const path = join(target, 'rootfs')
    return { ...description, runtimes: await versionsIn(path, description), path, origin: 'built' }
  }

  return {
    describe,
    prepareRoot,
    writeTar: (root) => Readable.from(create({ cwd: root.path, filter: asRoots }, ['.']), { objectMode: false }),
    discard: ({ path }) => rm(path, { recursive: true, force: true }),
    async sweep(keep) {
      const removed: { runtime: Runtime; key: string }[] = []
      const names = await readdir(directory).catch(() => [])
      for (const name of names) {
        const found = /^(node|python)-([0-9a-f]{16})(\.[0-9a-f]{8}\.tmp)?$/.exec(name)
        const [, runtime, key, half] = found ?? []
        if ((runtime !== 'node' && runtime !== 'python') || key === undefined) continue
        if (half === undefined ? keep.has(key) : [...building].some((at) => name.startsWith(at))) continue
        await rm(join(directory, name), { recursive: true, force: true })
        if (half === undefined) removed.push({ runtime, key })
      }
      return removed
    },
  }
}

/** Whoever runs the daemon, in an image the files are root's. Modes stay as they are, /tmp's among them. */
function asRoots(_path: string, entry: object): boolean {
  Object.assign(entry, { uid: 0, gid: 0 })
  return true
}

function toDescription(sources: ImageSources): ImageDescription {
  const { runtime, node, python } = sources
  const runtimes: Record<string, string> = { node: node.version }
  if (python && python !== 'debian') runtimes.python = python.version
  return { runtime, key: toImageKey(sources), runtimes }
}

/** The versions of the description, and that of a Python which debootstrap installed, as its package says. */
async function versionsIn(path: string, { runtime, runtimes }: ImageDescription): Promise<Record<string, string>> {
  if (runtime === 'node' || runtimes.python !== undefined) return { ...runtimes }
  const status = await readFile(join(path, 'var/lib/dpkg/status'), 'utf8')
  const version = /^Package: python3\n(?:.+\n)*?Version: ([0-9.]+)/m.exec(status)?.[1]
  return version === undefined ? { ...runtimes } : { ...runtimes, python: version }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
