import type { ErrorRecord, Health, PackageState } from './types.ts'

/** CloudEvents 1.0, structured form. */
export interface CloudEvent<T = unknown> {
  readonly specversion: '1.0'
  /** A monotonically increasing sequence number as a string: what `Last-Event-ID` names. */
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject?: string
  /** RFC 3339. */
  readonly time: string
  readonly datacontenttype: 'application/json'
  readonly data: T
}

/** The data of each event type of the daemon's own. `subject` is the package's or job's id. */
export interface EventData {
  'package.installed': { version: string }
  'package.uninstalled': { version: string; purged: boolean }
  'package.state': { from: PackageState; to: PackageState; reason?: string; error?: ErrorRecord }
  'package.health': { health: Health; reason?: string }
  'package.adopted': { sandbox: string }
  'tools.changed': { count: number }
  'resources.changed': { count: number }
  'prompts.changed': { count: number }
  'job.updated': { kind: string; state: string; stage?: string }
  'driver.degraded': { reason: string }
  'driver.recovered': Record<string, never>
  'config.reloaded': { valid: boolean; issues: number }
}

export type EventType = keyof EventData
