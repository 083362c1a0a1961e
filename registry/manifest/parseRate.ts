const windows: Readonly<Record<string, number>> = {
  s: 1000,
  sec: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
}

/** A JSON Schema pattern of what `parseRate` reads: `"60/min"`, `"5/s"`, `"1000/day"`. */
export const ratePattern = '^[1-9]\\d*/(s|sec|second|m|min|minute|h|hour|d|day)$'

const form = /^([1-9]\d*)\/([a-z]+)$/

/** How many in each window: `"60/min"` is 60 in 60,000 ms. Undefined when it is no rate. */
export function parseRate(text: string): { readonly count: number; readonly perMs: number } | undefined {
  const [, count, unit] = form.exec(text) ?? []
  const perMs = unit === undefined || !Object.hasOwn(windows, unit) ? undefined : windows[unit]
  if (perMs === undefined || !Number.isSafeInteger(Number(count))) return undefined
  return { count: Number(count), perMs }
}
