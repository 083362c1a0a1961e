import type { Manifest } from '../../registry/manifest/manifest.ts'
import type { Random } from '../core/ports.ts'
import type { SandboxExit } from '../core/types.ts'

/** Why a run is over without anybody having asked for it. */
export type RunEnd =
  | { readonly kind: 'exited'; readonly exit: SandboxExit }
  /** The sandbox is gone and nobody can say how it ended. */
  | { readonly kind: 'vanished' }
  | { readonly kind: 'unhealthy' }
  /** A start or restart that did not get ready. */
  | { readonly kind: 'start-failed' }

export interface RestartFacts {
  readonly policy: Manifest['restart']
  readonly desired: 'running' | 'stopped'
  /** Whether it was ready once since it was started by hand. */
  readonly wasReady: boolean
  readonly end: RunEnd
  /** Times of former restarts, ms. */
  readonly restarts: readonly number[]
  /** How long it had been ready, ms; 0 when it was not. */
  readonly ranMs: number
  /** A run this long clears the former restarts. */
  readonly stableMs: number
}

export type RestartVerdict =
  /** Start again after the delay; `restarts` is what to keep. */
  | { readonly kind: 'restart'; readonly afterMs: number; readonly restarts: readonly number[] }
  /** It ended as it may: it is over, and no failure. */
  | { readonly kind: 'end'; readonly reason: 'exited' | 'stopped' }
  | { readonly kind: 'giveUp'; readonly reason: 'crash-loop' | 'start-failed' | 'exited' | 'vanished' | 'unhealthy' }

const firstMs = 200
const factor = 3
const mostMs = 60_000

/** The delay before the n-th restart in the window (from 0): exponential, the upper half of it random, so that many never restart in step. */
export function toBackoff(n: number, random: Random): number {
  const whole = Math.min(mostMs, firstMs * factor ** n)
  return Math.round(whole / 2 + (random() * whole) / 2)
}

/** Whether and when a package that ended is started again. */
export function decideRestart(facts: RestartFacts, now: number, random: Random): RestartVerdict {
  const { policy, end } = facts
  if (facts.desired === 'stopped') return { kind: 'end', reason: 'stopped' }
  const clean = end.kind === 'exited' && end.exit.kind === 'exit' && end.exit.code === 0
  if (clean && policy.policy !== 'always') return { kind: 'end', reason: 'exited' }
  if (!facts.wasReady || policy.policy === 'no') return { kind: 'giveUp', reason: end.kind }
  const recent = facts.ranMs >= facts.stableMs ? [] : facts.restarts.filter((at) => at > now - policy.windowMs)
  if (recent.length >= policy.maxRetries) return { kind: 'giveUp', reason: 'crash-loop' }
  return { kind: 'restart', afterMs: toBackoff(recent.length, random), restarts: [...recent, now] }
}
