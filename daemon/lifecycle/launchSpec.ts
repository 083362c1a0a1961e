import { createHmac, randomBytes } from 'node:crypto'
import type { LaunchSpec, PreparedImage, VolumeRef } from '../../sandbox/sandboxDriver.ts'
import type { PackageRecord, State } from '../store/state.ts'
import type { LaunchPlan, LifecycleConfig } from './lifecycleDeps.ts'

const keyName = 'lifecycle.spec-key'

/** The home's key for spec hashes: a label that anyone on the engine can read must not let a secret be guessed. */
export function readSpecKey(state: State): string {
  const known = state.meta.get(keyName)
  if (known) return known
  const key = randomBytes(32).toString('hex')
  state.meta.put(keyName, key)
  return key
}

/** Hash of all that makes a sandbox what it is. The image is in it as it was asked for: a rebuilt one restarts nothing. */
export function toSpecHash(record: PackageRecord, plan: LaunchPlan, key: string): string {
  const { grants } = record
  const whole = {
    version: record.version,
    tree: record.tree,
    uid: record.uid,
    image: plan.image,
    command: plan.command,
    env: Object.entries(plan.env).sort(([a], [b]) => (a < b ? -1 : 1)),
    limits: [grants.limits.memoryBytes, grants.limits.cpus, grants.limits.pids, grants.limits.tmpBytes],
    network: grants.network,
    data: grants.data,
    mounts: grants.mounts.map((mount) => [mount.source, mount.target, mount.readOnly]),
  }
  return createHmac('sha256', key).update(JSON.stringify(whole)).digest('hex').slice(0, 32)
}

export interface LaunchParts {
  readonly daemon: string
  readonly spec: string
  readonly plan: LaunchPlan
  readonly image: PreparedImage
  readonly data: VolumeRef | null
  readonly config: LifecycleConfig
}

export function toLaunchSpec(record: PackageRecord, { daemon, spec, plan, image, data, config }: LaunchParts): LaunchSpec {
  return {
    identity: { daemon, packageId: record.id, version: record.version, spec },
    image,
    tree: record.tree,
    command: plan.command,
    env: plan.env,
    uid: record.uid,
    limits: record.grants.limits,
    network: record.grants.network,
    mounts: record.grants.mounts,
    data,
    logBytes: config.limits.logBytes,
    allowUnenforced: config.limits.allowUnenforced,
  }
}
