import { PkgdError } from '../../daemon/core/errors.ts'
import type { LimitName, LimitReading, SandboxReport } from '../sandboxDriver.ts'

/** How far the kernel may be from what was asked: it keeps memory in pages and CPU time in whole microseconds of a period. */
export const limitStep: Readonly<Record<LimitName, number>> = { memory: 65_536, cpu: 0.001, pids: 0, tmp: 65_536 }

/** Enforced is what the kernel says; where that is out of reach, what the engine says it was told. */
export function readLimit(asked: number, engine: number | null, effective: number | null, step: number): LimitReading {
  const known = effective ?? engine
  const enforced = known !== null && Math.abs(known - asked) <= step
  return { asked, engine, effective: effective !== null && Number.isFinite(effective) ? effective : null, enforced }
}

/** Throws LIMIT_NOT_ENFORCED for the first limit that was not taken and that the operator does not let pass. */
export function checkEnforced(report: SandboxReport, packageId: string, allowed: readonly LimitName[]): void {
  for (const [name, { asked, engine, effective, enforced, note }] of Object.entries(report.limits)) {
    if (enforced || allowed.includes(name as LimitName)) continue
    const held = effective ?? engine ?? 'no limit'
    throw new PkgdError(
      'LIMIT_NOT_ENFORCED',
      `The ${name} limit of ${packageId} was not taken: asked ${asked}, in force ${held}${note ? ` (${note})` : ''}`,
      { hint: `let it pass with limits.allow_unenforced: [${name}] in pkgd.yaml, or use an engine that enforces it` },
    )
  }
}
