import type { PackageView } from '../daemon/api/schemas/packages.ts'

/** A package's state with why it is in it, where that says more than the state: `failed (crash-loop)`. */
export const formatState = ({ state, reason }: Pick<PackageView, 'state' | 'reason'>): string =>
  reason && reason !== state ? `${state} (${reason})` : state
