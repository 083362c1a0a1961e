import type { LockedPackage } from '../../registry/lockfile/lockfile.ts'
import type { PackageRecord } from '../store/state.ts'
import type { PackagePlan } from './plan/packagePlan.ts'
import type { StagedTree } from './stage/stagePackage.ts'

export function toRecord(plan: PackagePlan, tree: string, facts: { readonly uid: number; readonly installedAt: string }): PackageRecord {
  const { manifest, manifestOrigin, resolution } = plan.planned
  return {
    id: manifest.id,
    version: manifest.version,
    manifest,
    manifestOrigin,
    resolution,
    tree,
    command: plan.command,
    env: plan.env,
    secrets: plan.secretNames,
    grants: plan.grants,
    ...facts,
  }
}

export function toLockedPackage(plan: PackagePlan, staged: StagedTree): LockedPackage {
  const { manifest, resolution } = plan.planned
  return {
    version: manifest.version,
    resolution,
    tree: staged.tree,
    dependencies: staged.dependencies,
    extensions: manifest.dependencies.extensions,
  }
}
