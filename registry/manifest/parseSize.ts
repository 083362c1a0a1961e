const units: Readonly<Record<string, number>> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 }

/** The least memory that an engine takes for a container, bytes. */
export const leastMemory = 6 * 1024 ** 2

/** A JSON Schema pattern of what `parseSize` reads, for `"256MB"`, `"1.5 GiB"`, `"512k"`. */
export const sizePattern = '^\\d+(\\.\\d+)?\\s*([bB]|[kKmMgGtT]([iI]?[bB])?)?$'

const form = /^(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?$/i

/** Bytes of `"256MB"`, or of a whole number of bytes. kB, MB, GB and KiB, MiB, GiB alike are powers of 1024, as the engine's are. Undefined when it is no size. */
export function parseSize(size: string | number): number | undefined {
  if (typeof size === 'number') return Number.isSafeInteger(size) && size >= 0 ? size : undefined
  if (!new RegExp(sizePattern).test(size)) return undefined
  const [, amount, unit] = form.exec(size) ?? []
  const bytes = Math.floor(Number(amount) * (units[unit?.toLowerCase() ?? ''] ?? Number.NaN))
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
