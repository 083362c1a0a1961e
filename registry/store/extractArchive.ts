import { createReadStream } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { findCoded, PkgdError } from '../../daemon/core/errors.ts'
import type { ArchiveLimits } from './archiveLimits.ts'
import { createArchiveSink } from './archiveSink.ts'
import { createIntegrityCheck } from './integrity.ts'
import { removeTree } from './removeTree.ts'

export interface ExtractRequest {
  /** The archive's file: tar, or tar compressed by gzip. */
  readonly archive: string
  /** Exists and is empty; is empty again when this fails. */
  readonly directory: string
  readonly limits: ArchiveLimits
  /** SRI that the archive's file must have, or null. */
  readonly integrity: string | null
  /** What messages call the archive. */
  readonly name: string
  readonly signal?: AbortSignal
}

export interface Extracted {
  /** sha512 SRI of the archive's file. */
  readonly integrity: string
  readonly entries: number
  readonly bytes: number
}

const chunkSize = 64 * 1024

/**
 * Unpacks an archive, which is taken to be hostile: nothing is ever written outside `directory`, nothing but files, directories and links that stay inside, nothing beyond the limits
 * (a file's announced size counts before its bytes do). A single folder around everything (npm's `package/`) is taken away.
 * Errors: ARCHIVE_UNSAFE, ARCHIVE_TOO_LARGE, ARCHIVE_DAMAGED, INTEGRITY_MISMATCH, OPERATION_CANCELLED.
 */
export async function extractArchive(request: ExtractRequest): Promise<Extracted> {
  const { archive, directory, limits, name, signal } = request
  const check = createIntegrityCheck(request.integrity, name)
  const sink = createArchiveSink({ directory, limits, name, demandEnd: request.integrity === null })
  try {
    const zipped = await isGzip(archive)
    const read = createReadStream(archive, { highWaterMark: chunkSize })
    const hashed = tap((chunk) => check.update(chunk))
    const options = signal ? { signal } : {}
    if (zipped) await pipeline(read, hashed, createGunzip({ chunkSize }), sink.stream, options)
    else await pipeline(read, hashed, sink.stream, options)
    const integrity = check.finish()
    return { integrity, ...sink.finish() }
  } catch (error) {
    await sink.abandon()
    await empty(directory)
    throw classify(error, name, signal)
  }
}

/** Lets chunks pass and shows each. */
function tap(see: (chunk: Buffer) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, callback: TransformCallback) {
      see(chunk)
      callback(null, chunk)
    },
  })
}

async function isGzip(archive: string): Promise<boolean> {
  const file = await open(archive)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b
  } finally {
    await file.close()
  }
}

async function empty(directory: string): Promise<void> {
  for (const name of await readdir(directory)) await removeTree(join(directory, name))
}

function classify(error: unknown, name: string, signal: AbortSignal | undefined): unknown {
  if (findCoded(error)) return error
  if (signal?.aborted) return new PkgdError('OPERATION_CANCELLED', `Unpacking ${name} was cancelled`, { cause: error })
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  if (code?.startsWith('Z_') || code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END') {
    return new PkgdError('ARCHIVE_DAMAGED', `${name} is damaged: ${(error as Error).message}`, {
      cause: error,
      hint: 'download or pack it again',
    })
  }
  return error
}
