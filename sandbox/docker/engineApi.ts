import type { Duplex, Readable } from 'node:stream'
import type Dockerode from 'dockerode'

export type ContainerOptions = Dockerode.ContainerCreateOptions
export type ContainerDetails = Dockerode.ContainerInspectInfo
export type ContainerSummary = Dockerode.ContainerInfo
type ContainerUsage = Dockerode.ContainerStats
export type ImageDetails = Dockerode.ImageInspectInfo

export interface EngineVersion {
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
  /** Where it keeps images and containers, as it has it; empty when it does not say. */
  readonly rootDirectory: string
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
  /** The last messages of both streams together; null for all. */
  readonly tail: number | null
  /** Seconds since the epoch. */
  readonly since?: number
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
  /** The command lines of its processes; none of one that is ending or has ended. */
  listProcesses(id: string): Promise<string[]>
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
