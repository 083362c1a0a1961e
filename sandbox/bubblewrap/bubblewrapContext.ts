import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Home } from '../../daemon/core/home.ts'
import type { Clock, Logger } from '../../daemon/core/ports.ts'
import type { ImageBuilder } from '../images/imageBuilder.ts'
import type { EgressGuard } from '../network/egressGuard.ts'
import type { SandboxHandle, TreeSource } from '../sandboxDriver.ts'
import { type CgroupTree, createCgroupTree } from './cgroup.ts'
import { createSandboxEvents, type SandboxEvents } from './sandboxEvents.ts'

export interface BubblewrapDriverDeps {
  readonly home: Home
  /** 8 lowercase hex: whose sandboxes are ours. */
  readonly daemonId: string
  readonly trees: TreeSource
  readonly images: ImageBuilder
  readonly egress: EgressGuard
  readonly log: Logger
  readonly clock: Clock
}

/** What the parts of the driver share. */
export interface BubblewrapContext {
  readonly deps: BubblewrapDriverDeps
  readonly cgroups: CgroupTree
  readonly events: SandboxEvents
  /** Names of what is being started or built: not yet, or never, anybody's to adopt. */
  readonly busy: Set<string>
  /** Whether the package's user can be one of its own, and limits and networks be made. */
  readonly asRoot: boolean
  toName(packageId: string): string
  isOurName(name: string): boolean
  directoryOf(name: string): string
  toHandle(name: string): SandboxHandle
}

export function createBubblewrapContext(deps: BubblewrapDriverDeps): BubblewrapContext {
  const { daemonId, home } = deps
  return {
    deps,
    cgroups: createCgroupTree(daemonId),
    events: createSandboxEvents(),
    busy: new Set(),
    asRoot: process.getuid?.() === 0,
    toName: (packageId) => `pkgd-${daemonId}-${packageId}-${randomBytes(3).toString('hex')}`,
    isOurName: (name) => name.startsWith(`pkgd-${daemonId}-`) && !name.includes('/'),
    directoryOf: (name) => join(home.run, name),
    toHandle: (name) => ({ driver: 'bubblewrap', id: name, name }),
  }
}
