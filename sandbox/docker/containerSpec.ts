import type { Limits } from '../../daemon/core/types.ts'
import { toSharedMemoryBytes } from '../confinement/sharedMemory.ts'
import type { LimitName } from '../sandboxDriver.ts'
import { boxMountPoint, toStarterCommand } from '../starter/starterCommand.ts'
import { type LabelledSandbox, toLabels } from './containerLabels.ts'
import type { ContainerOptions } from './engineApi.ts'

/** Something of the host's, or a volume of the engine's, inside the container. */
export interface ContainerMount {
  readonly kind: 'bind' | 'volume'
  /** An absolute path where the engine runs, or the volume's name. */
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
}

/** A network of the container's own, made before it. */
export interface ContainerNetwork {
  readonly name: string
  readonly address: string
  readonly resolver: string
}

/** One container, before the engine's own words for it. */
export interface BoxSpec {
  readonly name: string
  readonly labels: LabelledSandbox
  /** The engine's id of the image. */
  readonly image: string
  readonly command: readonly string[]
  readonly workingDirectory: string
  readonly uid: number
  readonly limits: Limits
  /** Limits that this engine cannot take; asking for them is refused by it, so they are left out. */
  readonly unsupported: readonly LimitName[]
  /** The box directory first. */
  readonly mounts: readonly ContainerMount[]
  readonly network: ContainerNetwork | null
  readonly logBytes: number
}

/**
 * The container that a sandbox is. Nothing in it depends on the host, the clock or the package's values: no env, no secret.
 * What is unpacked to /tmp may run: some native modules do just that, and nothing is gained where an interpreter reads its programs from there anyway.
 */
export function toContainerSpec(box: BoxSpec): ContainerOptions {
  const { limits, unsupported, network } = box
  const has = (limit: LimitName) => !unsupported.includes(limit)
  // Of the engine's own network sandbox a container without a network needs only the hosts file; the runtime gives it an empty namespace in any case, 60 ms sooner.
  const isAlone = network === null && box.mounts.some(({ target }) => target === hostsTarget)
  return {
    name: box.name,
    Image: box.image,
    // No entrypoint of the image's runs: the starter does.
    Entrypoint: toStarterCommand([]),
    Cmd: [...box.command],
    WorkingDir: box.workingDirectory,
    User: `${box.uid}:${box.uid}`,
    Hostname: 'sandbox',
    Env: [],
    Labels: toLabels(box.labels),
    StopSignal: 'SIGTERM',
    Healthcheck: { Test: ['NONE'] },
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    Tty: false,
    OpenStdin: box.labels.stdio === 'attach',
    StdinOnce: false,
    NetworkDisabled: isAlone,
    HostConfig: {
      ...(has('memory') && { Memory: limits.memoryBytes, MemorySwap: limits.memoryBytes }),
      ...(has('cpu') && { NanoCpus: Math.round(limits.cpus * 1e9) }),
      ...(has('pids') && { PidsLimit: limits.pids }),
      Tmpfs: { '/tmp': `rw,exec,nosuid,nodev,size=${limits.tmpBytes},mode=1777` },
      Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
      ReadonlyRootfs: true,
      Privileged: false,
      CapAdd: [],
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Init: true,
      IpcMode: 'private',
      ShmSize: toSharedMemoryBytes(limits),
      NetworkMode: network === null ? 'none' : network.name,
      ...(network && { Dns: [network.resolver], DnsOptions: [], DnsSearch: ['.'] }),
      PublishAllPorts: false,
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
      LogConfig: { Type: 'json-file', Config: toLogConfig(box.logBytes) },
      Mounts: box.mounts.map((mount) => ({
        Type: mount.kind,
        Source: mount.source,
        Target: mount.target,
        ReadOnly: mount.readOnly,
        ...(mount.kind === 'bind' && { BindOptions: { Propagation: 'rprivate' as const } }),
        // What the image has there, its owner included, is not copied into the volume.
        ...(mount.kind === 'volume' && { VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } } }),
      })),
    },
    ...(network && {
      NetworkingConfig: { EndpointsConfig: { [network.name]: { IPAMConfig: { IPv4Address: network.address } } } },
    }),
  }
}

/** Two files that take turns keep at least half of the bytes at any moment. */
function toLogConfig(bytes: number): Record<string, string> {
  return { 'max-size': String(Math.max(4096, Math.ceil(bytes / 2))), 'max-file': '2' }
}

/** Where a sandbox without a network gets its hosts file from pkgd. */
export const hostsTarget = '/etc/hosts'

export const boxMount = (path: string): ContainerMount => ({ kind: 'bind', source: path, target: boxMountPoint, readOnly: true })
