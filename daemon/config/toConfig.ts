import { resolve } from 'node:path'
import { parseDuration } from '../../registry/manifest/parseDuration.ts'
import { parseSize } from '../../registry/manifest/parseSize.ts'
import type { Config } from './config.ts'

/** pkgd.yaml as it is written, after validation. */
export interface ConfigFile {
  readonly port?: number
  readonly log?: Config['log']
  readonly driver?: Config['driver']
  readonly limits?: {
    readonly max?: { readonly memory?: Size; readonly cpus?: number; readonly pids?: number; readonly tmp?: Size }
    readonly allow_unenforced?: Config['limits']['allowUnenforced']
    readonly frame?: Size
    readonly archive?: Size
    readonly archive_entries?: number
    readonly log?: Size
  }
  readonly network?: { readonly pool?: string; readonly allow_private?: readonly string[]; readonly resolvers?: readonly string[] }
  readonly install?: { readonly allow_sources?: readonly string[]; readonly sdist?: boolean; readonly timeout?: string }
  readonly registries?: readonly ({ readonly folder: string } | { readonly npm: string; readonly scope?: string })[]
  readonly images?: Config['images']
  readonly lifecycle?: {
    readonly parallel?: number
    readonly pull_timeout?: string
    readonly boot_timeout?: string
    readonly handshake_timeout?: string
    readonly stop_grace?: string
    readonly stable?: string
  }
  readonly calls?: { readonly timeout?: string }
  readonly events?: { readonly keep?: string; readonly keep_at_most?: number }
  readonly first_uid?: number
}

type Size = string | number

/** What the defaults depend on. */
export interface ConfigDefaults {
  readonly hostMemoryBytes: number
  readonly hostCpus: number
  /** The folder of the packages that ship with pkgd: always searched first. */
  readonly shippedPackages: string
  /** What relative paths are relative to. */
  readonly homeRoot: string
}

const MB = 1024 ** 2
const seconds = 1000
const minutes = 60 * seconds
const days = 24 * 60 * minutes

// Both were checked by the schema: the fallback is for what is absent.
const bytes = (size: Size | undefined, fallback: number) => (size === undefined ? fallback : (parseSize(size) ?? fallback))
const ms = (text: string | undefined, fallback: number) => (text === undefined ? fallback : (parseDuration(text) ?? fallback))

/** Fills in every default. */
export function toConfig(file: ConfigFile, defaults: ConfigDefaults): Config {
  const { limits = {}, network = {}, install = {}, lifecycle = {}, calls = {}, events = {} } = file
  const memoryBytes = bytes(limits.max?.memory, Math.floor(defaults.hostMemoryBytes / 2))
  return {
    port: file.port ?? 7433,
    log: file.log ?? 'info',
    driver: file.driver ?? 'auto',
    limits: {
      max: {
        memoryBytes,
        cpus: limits.max?.cpus ?? defaults.hostCpus,
        pids: limits.max?.pids ?? 1024,
        tmpBytes: bytes(limits.max?.tmp, memoryBytes),
      },
      allowUnenforced: limits.allow_unenforced ?? [],
      frameBytes: bytes(limits.frame, 16 * MB),
      archiveBytes: bytes(limits.archive, 512 * MB),
      archiveEntries: limits.archive_entries ?? 100_000,
      logBytes: bytes(limits.log, 10 * MB),
    },
    network: { pool: network.pool ?? '10.213.0.0/16', allowPrivate: network.allow_private ?? [], resolvers: network.resolvers ?? [] },
    install: {
      allowSources: install.allow_sources ?? [],
      sdist: install.sdist ?? false,
      timeoutMs: ms(install.timeout, 15 * minutes),
    },
    registries: [
      { kind: 'folder', path: defaults.shippedPackages },
      ...(file.registries ?? []).map((registry) =>
        'folder' in registry
          ? { kind: 'folder' as const, path: resolve(defaults.homeRoot, registry.folder) }
          : { kind: 'npm' as const, url: registry.npm, scope: registry.scope ?? null },
      ),
    ],
    images: file.images ?? {},
    lifecycle: {
      parallel: lifecycle.parallel ?? 4,
      pullTimeoutMs: ms(lifecycle.pull_timeout, 10 * minutes),
      bootTimeoutMs: ms(lifecycle.boot_timeout, 30 * seconds),
      handshakeTimeoutMs: ms(lifecycle.handshake_timeout, 60 * seconds),
      stopGraceMs: ms(lifecycle.stop_grace, 3 * seconds),
      stableMs: ms(lifecycle.stable, 60 * seconds),
    },
    calls: { timeoutMs: ms(calls.timeout, 60 * seconds) },
    events: { keepMs: ms(events.keep, 7 * days), keepAtMost: events.keep_at_most ?? 100_000 },
    firstUid: file.first_uid ?? 200_000,
  }
}
