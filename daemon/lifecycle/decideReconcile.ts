import type { SandboxInfo } from '../../sandbox/sandboxDriver.ts'
import type { PackageState } from '../core/types.ts'
import type { SandboxRecord } from '../store/state.ts'
import type { RunEnd } from './restartPolicy.ts'

/** One installed package, as far as reconciliation cares. */
export interface Wish {
  readonly id: string
  readonly version: string
  readonly desired: 'running' | 'stopped'
  readonly onDemand: boolean
  readonly state: PackageState
  /** Hash of what a start would launch now, or null when that cannot be worked out (a value is missing): then what runs is as good as any. */
  readonly spec: string | null
  /** This daemon's conversation with a sandbox, by the sandbox's id. */
  readonly live: string | null
  /** Something is under way with it: it settles by itself. */
  readonly busy: boolean
}

export type RemovalReason = 'unknown' | 'stopped' | 'exited' | 'outdated' | 'never-ready'

export type Verdict =
  | { readonly kind: 'adopt'; readonly known: SandboxRecord; readonly info: SandboxInfo }
  | { readonly kind: 'remove'; readonly info: SandboxInfo; readonly why: RemovalReason }
  /** Its conversation is with a sandbox that ended or is gone. */
  | { readonly kind: 'missed'; readonly id: string; readonly end: RunEnd }
  /** A stored sandbox that is not there: the record goes. */
  | { readonly kind: 'drop'; readonly id: string }
  /** It has no sandbox: its state must say so. */
  | { readonly kind: 'vacate'; readonly id: string }
  | { readonly kind: 'start'; readonly id: string }

/** States that speak of a sandbox, or of one that is about to be. */
const speaking: ReadonlySet<PackageState> = new Set(['starting', 'running', 'frozen', 'backoff', 'stopping'])

/**
 * Compares what is stored, what is on the engine and what is wanted. Adopted is what is known, is what would be launched now, was ready once and runs.
 * Removed is what nobody knows or wants. Started is what should run and does not. Only sandboxes with this daemon's label are ever in `present`.
 */
export function decideReconcile(known: readonly SandboxRecord[], present: readonly SandboxInfo[], wishes: readonly Wish[]): Verdict[] {
  const verdicts: Verdict[] = []
  const wished = new Map(wishes.map((wish) => [wish.id, wish]))
  const records = new Map(known.map((record) => [record.packageId, record]))
  for (const info of present) {
    const { packageId } = info.identity
    const wish = wished.get(packageId)
    if (wish?.busy) continue
    if (!wish || records.get(packageId)?.handle.id !== info.handle.id) verdicts.push({ kind: 'remove', info, why: 'unknown' })
  }
  const find = (record: SandboxRecord) =>
    present.find(({ handle, identity }) => handle.id === record.handle.id && identity.packageId === record.packageId)
  for (const record of known) if (!wished.has(record.packageId)) verdicts.push({ kind: 'drop', id: record.packageId })
  for (const wish of wishes) {
    if (wish.busy) continue
    const record = records.get(wish.id)
    verdicts.push(...decideOne(wish, record, record && find(record)))
  }
  return verdicts
}

function decideOne(wish: Wish, known: SandboxRecord | undefined, info: SandboxInfo | undefined): Verdict[] {
  const { id } = wish
  if (wish.live !== null) {
    if (!info || info.handle.id !== wish.live) return [{ kind: 'missed', id, end: { kind: 'vanished' } }]
    return info.status.state === 'exited' ? [{ kind: 'missed', id, end: { kind: 'exited', exit: info.status.exit } }] : []
  }
  const unfit = known && info ? findUnfit(wish, known, info) : null
  if (known && info && unfit === null) return [{ kind: 'adopt', known, info }]
  const verdicts: Verdict[] = []
  if (info && unfit) verdicts.push({ kind: 'remove', info, why: unfit })
  else if (known) verdicts.push({ kind: 'drop', id })
  const unfinished = wish.state === 'asleep' && wish.desired === 'stopped'
  if (speaking.has(wish.state) || unfinished) verdicts.push({ kind: 'vacate', id })
  if (wish.desired === 'running' && !wish.onDemand) verdicts.push({ kind: 'start', id })
  return verdicts
}

/** Why a known sandbox cannot be taken over, or null. */
function findUnfit(wish: Wish, known: SandboxRecord, info: SandboxInfo): RemovalReason | null {
  if (wish.desired === 'stopped') return 'stopped'
  if (info.status.state === 'exited') return 'exited'
  if (known.session === null) return 'never-ready'
  const { identity } = info
  const same = identity.spec === known.spec && identity.version === wish.version && (wish.spec === null || wish.spec === known.spec)
  return same ? null : 'outdated'
}
