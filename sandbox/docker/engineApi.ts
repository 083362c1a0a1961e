import { type Duplex, Readable } from 'node:stream'
import type Dockerode from 'dockerode'
import type { EngineEndpoint } from './engineEndpoint.ts'
import { statusOf, toEngineError } from './engineError.ts'
import { loadDockerode } from './loadDockerode.ts'

const Engine = await loadDockerode()

export type ContainerOptions = Dockerode.ContainerCreateOptions
export type ContainerDetails = Dockerode.ContainerInspectInfo
type ContainerSummary = Dockerode.ContainerInfo
type ContainerUsage = Dockerode.ContainerStats
export type ImageDetails = Dockerode.ImageInspectInfo

interface EngineVersion {
  readonly version: string
  readonly apiVersion: string
  readonly minApiVersion: string
  readonly kernel: string
}

export interface EngineInfo {
  readonly id: string
  readonly memoryLimit: boolean
  readonly swapLimit: boolean
  readonly cpuQuota: boolean
  readonly pidsLimit: boolean
  readonly seccomp: boolean
  readonly rootless: boolean
  readonly operatingSystem: string
}

export interface EngineEvent {
  readonly type: string
  readonly action: string
  readonly id: string
  readonly attributes: Readonly<Record<string, string>>
  readonly timeNano: number
}

interface LogOptions {
  readonly stdout: boolean
  readonly follow: boolean
  readonly tail: number | null
  readonly signal: AbortSignal
}

/**
 * All that is asked of a container engine. Every method fails with an error of pkgd's (engineError.ts); what is removed may be gone already.
 * Labels are `key=value` filters, all of which must hold.
 */
export interface EngineApi {
  version(): Promise<EngineVersion>
  info(): Promise<EngineInfo>
  createContainer(options: ContainerOptions): Promise<string>
  startContainer(id: string): Promise<void>
  inspectContainer(id: string): Promise<ContainerDetails>
  listContainers(labels: readonly string[]): Promise<ContainerSummary[]>
  /** Resolves when it is not running. */
  waitContainer(id: string, signal: AbortSignal): Promise<void>
  killContainer(id: string, signal: string): Promise<void>
  removeContainer(id: string): Promise<void>
  pauseContainer(id: string): Promise<void>
  unpauseContainer(id: string): Promise<void>
  statContainer(id: string): Promise<ContainerUsage>
  /** Multiplexed frames, each one message with its timestamp. */
  readLogs(id: string, options: LogOptions): Promise<Readable>
  attachContainer(id: string): Promise<Duplex>
  /** Runs a command in a running container; its stdin and multiplexed output. */
  execInContainer(id: string, command: readonly string[], user: string): Promise<Duplex>
  putArchive(id: string, path: string, tar: Readable): Promise<void>
  events(labels: readonly string[], since: number, signal: AbortSignal): Promise<Readable>
  inspectImage(reference: string): Promise<ImageDetails | undefined>
  pullImage(reference: string, onProgress: (line: PullProgress) => void, signal: AbortSignal): Promise<void>
  importImage(tar: Readable, target: ImageTarget, signal: AbortSignal): Promise<void>
  removeImage(reference: string): Promise<void>
  createNetwork(options: Dockerode.NetworkCreateOptions): Promise<string>
  /** False when there was none. */
  removeNetwork(id: string): Promise<boolean>
  listNetworks(labels: readonly string[]): Promise<{ id: string; name: string; labels: Record<string, string>; subnets: string[] }[]>
  createVolume(name: string, labels: Record<string, string>): Promise<void>
  removeVolume(name: string): Promise<void>
  listVolumes(labels: readonly string[]): Promise<{ name: string; labels: Record<string, string> }[]>
}

export interface PullProgress {
  readonly status?: string
  readonly id?: string
  readonly error?: string
  readonly progressDetail?: { readonly current?: number; readonly total?: number }
}

interface ImageTarget {
  readonly repository: string
  readonly tag: string
  /** Dockerfile instructions. */
  readonly changes: readonly string[]
}

/** The newest API version that this client was written for. */
const newest = '1.47'

/** The version to speak: the newest that both know; an engine whose oldest is newer still is spoken to in its oldest. */
export function pickApiVersion(engine: { readonly apiVersion: string; readonly minApiVersion: string }): string {
  const wanted = compareVersions(engine.apiVersion, newest) < 0 ? engine.apiVersion : newest
  return compareVersions(engine.minApiVersion, wanted) > 0 ? engine.minApiVersion : wanted
}

function compareVersions(a: string, b: string): number {
  const [aMajor = 0, aMinor = 0] = a.split('.').map(Number)
  const [bMajor = 0, bMinor = 0] = b.split('.').map(Number)
  return aMajor - bMajor || aMinor - bMinor
}

/** The engine at `endpoint`, through dockerode. The API version is agreed on at the first call. */
export function createEngineApi(endpoint: EngineEndpoint): EngineApi {
  const options: Dockerode.DockerOptions = endpoint.kind === 'socket' ? { socketPath: endpoint.path } : {}
  const unversioned = new Engine(options)
  let agreed: Promise<Dockerode> | undefined

  const readVersion = async (): Promise<EngineVersion> => {
    const found = await guard('say its version', unversioned.version())
    return {
      version: found.Version,
      apiVersion: found.ApiVersion,
      minApiVersion: found.MinAPIVersion ?? '1.24',
      kernel: found.KernelVersion ?? '',
    }
  }
  const agree = async () => new Engine({ ...options, version: `v${pickApiVersion(await readVersion())}` })
  const engine = async (): Promise<Dockerode> => {
    agreed ??= agree()
    try {
      return await agreed
    } catch (error) {
      agreed = undefined
      throw error
    }
  }
  const call = async <T>(what: string, work: (docker: Dockerode) => Promise<T>): Promise<T> => guard(what, work(await engine()))
  const filters = (labels: readonly string[]) => ({ label: [...labels] })

  return {
    version: readVersion,
    async info() {
      const info = await call('describe itself', (docker) => docker.info())
      return {
        id: String(info.ID ?? ''),
        memoryLimit: info.MemoryLimit !== false,
        swapLimit: info.SwapLimit !== false,
        cpuQuota: info.CpuCfsQuota !== false,
        pidsLimit: info.PidsLimit !== false,
        seccomp: hasOption(info.SecurityOptions, 'seccomp'),
        rootless: hasOption(info.SecurityOptions, 'rootless'),
        operatingSystem: String(info.OperatingSystem ?? ''),
      }
    },
    createContainer: async (container) => (await call('create the container', (docker) => docker.createContainer(container))).id,
    startContainer: (id) => call('start the container', (docker) => docker.getContainer(id).start()),
    inspectContainer: (id) => call('inspect the container', (docker) => docker.getContainer(id).inspect()),
    listContainers: (labels) => call('list containers', (docker) => docker.listContainers({ all: true, filters: filters(labels) })),
    waitContainer: (id, signal) =>
      call('wait for the container', async (docker) => {
        await docker.getContainer(id).wait({ condition: 'not-running', abortSignal: signal })
      }),
    killContainer: (id, signal) => call('signal the container', (docker) => docker.getContainer(id).kill({ signal })),
    removeContainer: (id) =>
      call('remove the container', (docker) => unlessGone(docker.getContainer(id).remove({ force: true, v: true }), [404, 409])),
    pauseContainer: (id) => call('freeze the container', (docker) => docker.getContainer(id).pause()),
    unpauseContainer: (id) => call('thaw the container', (docker) => docker.getContainer(id).unpause()),
    statContainer: (id) => call('measure the container', (docker) => docker.getContainer(id).stats({ stream: false, 'one-shot': true })),
    async readLogs(id, { stdout, follow, tail, signal }) {
      const shown = { stdout, stderr: true, timestamps: true, ...(tail !== null && { tail }), abortSignal: signal }
      // The client answers a stream or a whole body, by the value of `follow` alone.
      return call('read the log', async (docker) => {
        const container = docker.getContainer(id)
        if (!follow) return Readable.from([await container.logs({ ...shown, follow: false })])
        return (await container.logs({ ...shown, follow: true })) as Readable
      })
    },
    attachContainer: (id) =>
      call('attach to the container', async (docker) => {
        const streams = { stream: true, stdin: true, stdout: true, stderr: false, hijack: true }
        return (await docker.getContainer(id).attach(streams)) as Duplex
      }),
    execInContainer: (id, command, user) =>
      call('run a command in the container', async (docker) => {
        const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false }
        const exec = await docker.getContainer(id).exec({ Cmd: [...command], User: user, ...streams })
        return exec.start({ hijack: true, stdin: true })
      }),
    putArchive: (id, path, tar) =>
      call('fill the container', async (docker) => {
        await docker.getContainer(id).putArchive(tar, { path })
      }),
    events: (labels, since, signal) =>
      call('tell its events', async (docker) => {
        const wanted = { filters: JSON.stringify({ label: labels, type: ['container'] }), since, abortSignal: signal }
        return (await docker.getEvents(wanted)) as Readable
      }),
    inspectImage: (reference) => call('inspect the image', (docker) => orUndefined(docker.getImage(reference).inspect())),
    pullImage: (reference, onProgress, signal) =>
      call(`pull ${reference}`, async (docker) => {
        const stream = await docker.pull(reference, { abortSignal: signal })
        await followProgress(docker, stream, onProgress)
      }),
    importImage: (tar, { repository, tag, changes }, signal) =>
      call('import the image', async (docker) => {
        const stream = await docker.importImage(tar, { repo: repository, tag, changes, abortSignal: signal })
        await followProgress(docker, stream as Readable, () => undefined)
      }),
    removeImage: (reference) => call('remove the image', (docker) => unlessGone(docker.getImage(reference).remove(), [404, 409])),
    createNetwork: async (network) => (await call('create the network', (docker) => docker.createNetwork(network))).id,
    removeNetwork: async (id) =>
      (await call('remove the network', (docker) =>
        orUndefined(
          docker
            .getNetwork(id)
            .remove()
            .then(() => true),
        ),
      )) ?? false,
    async listNetworks(labels) {
      const found = await call('list networks', (docker) => docker.listNetworks(labels.length > 0 ? { filters: filters(labels) } : {}))
      return found.map(({ Id, Name, Labels, IPAM }) => ({
        id: Id,
        name: Name,
        labels: Labels ?? {},
        subnets: (IPAM?.Config ?? []).flatMap(({ Subnet }) => (Subnet ? [Subnet] : [])),
      }))
    },
    createVolume: (name, labels) =>
      call('create the volume', async (docker) => {
        await docker.createVolume({ Name: name, Labels: labels })
      }),
    removeVolume: (name) => call('remove the volume', (docker) => unlessGone(docker.getVolume(name).remove(), [404])),
    async listVolumes(labels) {
      const found = await call('list volumes', (docker) => docker.listVolumes({ filters: filters(labels) }))
      return (found.Volumes ?? []).map(({ Name, Labels }) => ({ name: Name, labels: Labels ?? {} }))
    },
  }
}

const hasOption = (options: unknown, name: string): boolean =>
  Array.isArray(options) && options.some((option) => typeof option === 'string' && option.includes(`name=${name}`))

async function guard<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw toEngineError(error, what)
  }
}

/** 409 on a removal: somebody else is removing it this moment, or still uses it. */
async function unlessGone(work: Promise<unknown>, statuses: readonly number[]): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!statuses.includes(statusOf(error) ?? 0)) throw error
  }
}

async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

/** Follows a stream of JSON progress to its end; an error in it is thrown. */
function followProgress(docker: Dockerode, stream: NodeJS.ReadableStream, onProgress: (line: PullProgress) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error: unknown, lines: PullProgress[] | null) => {
        const failed = lines?.find((line) => line.error !== undefined)
        if (error) reject(error)
        else if (failed) reject(new Error(failed.error))
        else resolve()
      },
      onProgress,
    )
  })
}
