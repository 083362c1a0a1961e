import { type Duplex, Readable } from 'node:stream'
import type Dockerode from 'dockerode'
import { PkgdError } from '../../daemon/core/errors.ts'
import { type EngineApi, type EngineVersion, type PullProgress, pickApiVersion } from './engineApi.ts'
import { demandEndpoint, type EngineEndpoint } from './engineEndpoint.ts'
import { statusOf, toEngineError } from './engineError.ts'
import { loadDockerode } from './loadDockerode.ts'

const Engine = await loadDockerode()

/** The engine at `endpoint`, through dockerode. The API version is agreed on at the first call. */
export function createEngineApi(endpoint: EngineEndpoint): EngineApi {
  const options: Dockerode.DockerOptions = endpoint.kind === 'socket' ? { socketPath: endpoint.path } : {}
  const unversioned = new Engine(options)
  let agreed: Promise<Dockerode> | undefined

  const readVersion = async (): Promise<EngineVersion> => {
    demandEndpoint(endpoint)
    const found = await withinLimit('say its version', guard('say its version', unversioned.version()))
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
  /** For what an engine answers at once, or is ill. */
  const soon = <T>(what: string, work: (docker: Dockerode) => Promise<T>): Promise<T> => withinLimit(what, call(what, work))
  const filters = (labels: readonly string[]) => ({ label: [...labels] })

  return {
    version: readVersion,
    async info() {
      const info = await soon('describe itself', (docker) => docker.info())
      return {
        id: String(info.ID ?? ''),
        memoryLimit: info.MemoryLimit !== false,
        swapLimit: info.SwapLimit !== false,
        cpuQuota: info.CpuCfsQuota !== false,
        pidsLimit: info.PidsLimit !== false,
        seccomp: hasOption(info.SecurityOptions, 'seccomp'),
        rootless: hasOption(info.SecurityOptions, 'rootless'),
        operatingSystem: String(info.OperatingSystem ?? ''),
        rootDirectory: String(info.DockerRootDir ?? ''),
      }
    },
    createContainer: async (container) => (await soon('create the container', (docker) => docker.createContainer(container))).id,
    startContainer: (id) => soon('start the container', (docker) => docker.getContainer(id).start()),
    async listProcesses(id) {
      try {
        const { Processes: rows } = await soon('list its processes', (docker) => docker.getContainer(id).top())
        return ((rows as string[][] | null) ?? []).map((row) => row.at(-1) ?? '')
      } catch (error) {
        // One that is ending has no processes to list, which engines say in many ways.
        if ([409, 500].includes(statusOf(error) ?? 0)) return []
        throw error
      }
    },
    inspectContainer: (id) => soon('inspect the container', (docker) => docker.getContainer(id).inspect()),
    listContainers: (labels) => soon('list containers', (docker) => docker.listContainers({ all: true, filters: filters(labels) })),
    waitContainer: (id, signal) =>
      call('wait for the container', async (docker) => {
        await docker.getContainer(id).wait({ condition: 'not-running', abortSignal: signal })
      }),
    killContainer: (id, signal) => soon('signal the container', (docker) => docker.getContainer(id).kill({ signal })),
    removeContainer: (id) =>
      soon('remove the container', (docker) => unlessGone(docker.getContainer(id).remove({ force: true, v: true }), [404, 409])),
    pauseContainer: (id) => soon('freeze the container', (docker) => docker.getContainer(id).pause()),
    unpauseContainer: (id) => soon('thaw the container', (docker) => docker.getContainer(id).unpause()),
    statContainer: (id) => soon('measure the container', (docker) => docker.getContainer(id).stats({ stream: false, 'one-shot': true })),
    async readLogs(id, { stdout, follow, tail, since, signal }) {
      const shown = {
        stdout,
        stderr: true,
        timestamps: true,
        ...(tail !== null && { tail }),
        ...(since !== undefined && { since }),
        abortSignal: signal,
      }
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
    inspectImage: (reference) => soon('inspect the image', (docker) => orUndefined(docker.getImage(reference).inspect())),
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
    removeImage: (reference) => soon('remove the image', (docker) => unlessGone(docker.getImage(reference).remove(), [404, 409])),
    createNetwork: async (network) => (await soon('create the network', (docker) => docker.createNetwork(network))).id,
    removeNetwork: async (id) =>
      (await soon('remove the network', (docker) =>
        orUndefined(
          docker
            .getNetwork(id)
            .remove()
            .then(() => true),
        ),
      )) ?? false,
    async listNetworks(labels) {
      const found = await soon('list networks', (docker) => docker.listNetworks(labels.length > 0 ? { filters: filters(labels) } : {}))
      return found.map(({ Id, Name, Labels, IPAM }) => ({
        id: Id,
        name: Name,
        labels: Labels ?? {},
        subnets: (IPAM?.Config ?? []).flatMap(({ Subnet }) => (Subnet ? [Subnet] : [])),
      }))
    },
    createVolume: (name, labels) =>
      soon('create the volume', async (docker) => {
        await docker.createVolume({ Name: name, Labels: labels })
      }),
    removeVolume: (name) => soon('remove the volume', (docker) => unlessGone(docker.getVolume(name).remove(), [404])),
    async listVolumes(labels) {
      const found = await soon('list volumes', (docker) => docker.listVolumes({ filters: filters(labels) }))
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

/** An engine that takes a request and never answers is as good as gone. What it does later with that request has the daemon's label, and is swept. */
const answerWithinMs = 60_000

async function withinLimit<T>(what: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const hint = 'look at its log; restarting the engine leaves packages as they are if it is set to live-restore'
    late.reject(
      new PkgdError('ENGINE_UNREACHABLE', `The container engine has not answered for ${answerWithinMs / 1000} s, asked to ${what}`, {
        hint,
      }),
    )
  }, answerWithinMs)
  timer.unref()
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
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
