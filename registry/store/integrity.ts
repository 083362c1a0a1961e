import { createHash, timingSafeEqual } from 'node:crypto'
import { PkgdError } from '../../daemon/core/errors.ts'

const strengths = ['sha256', 'sha384', 'sha512'] as const
type Algorithm = (typeof strengths)[number]
const lengths: Record<Algorithm, number> = { sha256: 32, sha384: 48, sha512: 64 }

interface Expected {
  readonly algorithm: Algorithm
  readonly digests: readonly Buffer[]
}

/** Computes what was received while it streams past. */
export interface IntegrityCheck {
  update(chunk: Uint8Array): void
  /** The content's SRI, always sha512. Throws INTEGRITY_MISMATCH where another was expected. */
  finish(): string
}

/**
 * A check against an SRI string (several hashes are alternatives; the strongest algorithm in it decides, as the SRI specification says), or with null none.
 * One without a hash of sha256, sha384 or sha512 is INTEGRITY_MISMATCH at once: it would prove nothing. `name` is what messages call the content.
 */
export function createIntegrityCheck(expected: string | null, name: string): IntegrityCheck {
  const wanted = expected === null ? null : parseIntegrity(expected, name)
  const own = createHash('sha512')
  const theirs = wanted && wanted.algorithm !== 'sha512' ? createHash(wanted.algorithm) : null
  return {
    update(chunk) {
      own.update(chunk)
      theirs?.update(chunk)
    },
    finish() {
      const digest = own.digest()
      const actual = theirs?.digest() ?? digest
      if (wanted && !wanted.digests.some((candidate) => timingSafeEqual(candidate, actual))) {
        throw new PkgdError(
          'INTEGRITY_MISMATCH',
          `${name} has integrity ${wanted.algorithm}-${actual.toString('base64')}, but ${expected} was expected`,
          { hint: 'what was received is not what was published or locked; do not install it unless you know why' },
        )
      }
      return `sha512-${digest.toString('base64')}`
    },
  }
}

function parseIntegrity(text: string, name: string): Expected {
  const hashes = readHashes(text)
  const algorithm = strengths.findLast((strength) => hashes.some((found) => found.algorithm === strength))
  if (!algorithm) {
    throw new PkgdError('INTEGRITY_MISMATCH', `The integrity "${text}" given for ${name} holds no sha256, sha384 or sha512 hash`, {
      hint: 'an integrity looks like sha512-<base64>',
    })
  }
  return { algorithm, digests: hashes.filter((found) => found.algorithm === algorithm).map((found) => found.digest) }
}

function readHashes(text: string): { algorithm: Algorithm; digest: Buffer }[] {
  return text
    .trim()
    .split(/\s+/)
    .flatMap((part) => {
      const [, algorithm, base64] = /^(sha256|sha384|sha512)-([A-Za-z0-9+/]+={0,2})(?:\?.*)?$/.exec(part) ?? []
      if (!algorithm || !base64) return []
      const known = algorithm as Algorithm
      const digest = Buffer.from(base64, 'base64')
      return digest.length === lengths[known] ? [{ algorithm: known, digest }] : []
    })
}
