/** One file of a project, as an index lists it (PEP 503, PEP 691, PEP 700). */
export interface IndexFile {
  readonly filename: string
  readonly url: string
  /** SRI; null where the index gives no usable hash. */
  readonly integrity: string | null
  readonly requiresPython: string | null
  readonly yanked: boolean
}

/** The strongest usable hash, hex as indexes give it, as SRI. */
export function toIntegrity(hashes: Readonly<Record<string, unknown>>): string | null {
  for (const algorithm of ['sha512', 'sha384', 'sha256']) {
    const hex = hashes[algorithm]
    if (typeof hex === 'string' && /^([0-9a-f]{2})+$/i.test(hex)) return `${algorithm}-${Buffer.from(hex, 'hex').toString('base64')}`
  }
  return null
}
