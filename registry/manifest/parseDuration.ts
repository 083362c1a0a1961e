const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A JSON Schema pattern of what `parseDuration` reads: `"500ms"`, `"30s"`, `"10m"`, `"1.5h"`, `"7d"`. */
export const durationPattern = '^\\d+(\\.\\d+)?\\s*(ms|s|m|h|d)$'

const form = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/

/** Milliseconds of `"10m"`. Undefined when it is no duration. A bare number is none: its unit would be a guess. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = form.exec(text) ?? []
  if (amount === undefined || unit === undefined) return undefined
  const ms = Math.round(Number(amount) * (milliseconds[unit] ?? Number.NaN))
  return Number.isSafeInteger(ms) ? ms : undefined
}
