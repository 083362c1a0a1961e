import { statSync } from 'node:fs'
import { Writable } from 'node:stream'
import { Parser, type ReadEntry } from 'tar'
import { PkgdError } from '../../daemon/core/errors.ts'
import { planArchiveEntry } from './archiveEntry.ts'
import type { ArchiveLimits } from './archiveLimits.ts'
import { createArchiveWriter } from './archiveWriter.ts'

const block = 512
/** What an entry may cost beside its content: its header and padding, and long names in headers of their own. */
const overheadPerEntry = 16 * block

/** Takes an uncompressed tar stream and writes its entries. The first problem ends the stream with its error; no entry after it is looked at. */
export function createArchiveSink(options: {
  readonly directory: string
  readonly limits: ArchiveLimits
  readonly name: string
  /** Whether an archive without the end marker is damaged (it may be cut off exactly between two entries). */
  readonly demandEnd: boolean
}) {
  const { limits, name } = options
  const writer = createArchiveWriter(options.directory, {
    path() {
      if (++paths > limits.archiveEntries) throw tooLarge(`${limits.archiveEntries} entries`)
    },
    copy(file) {
      spend(statSync(file).size)
    },
  })
  // Decompression is not the parser's: it would not count what it unpacks.
  const parser = new Parser({ brotli: false, zstd: false })
  let problem: Error | undefined
  let head: Buffer | undefined = Buffer.alloc(0)
  let current: ReadEntry | undefined
  let entries = 0
  let paths = 0
  let bytes = 0
  let streamed = 0
  let ended = false
  let written: Promise<unknown> = Promise.resolve()
  let wake: (() => void) | undefined

  const fail = (error: unknown) => {
    problem ??= error instanceof Error ? error : new Error(String(error))
    wake?.()
  }
  const damaged = (why: string) => new PkgdError('ARCHIVE_DAMAGED', `${name} is damaged: ${why}`, { hint: 'download or pack it again' })
  const tooLarge = (what: string) =>
    new PkgdError('ARCHIVE_TOO_LARGE', `${name} holds more than ${what}`, {
      hint: 'the operator can raise limits.archive and limits.archive_entries in pkgd.yaml',
    })
  const spend = (size: number) => {
    bytes += size
    if (bytes > limits.archiveBytes) throw tooLarge(`${limits.archiveBytes} bytes`)
  }

  const accept = async (entry: ReadEntry) => {
    if (++entries > limits.archiveEntries) throw tooLarge(`${limits.archiveEntries} entries`)
    const planned = planArchiveEntry(entry)
    if (planned.kind === 'file') spend(planned.size)
    else entry.resume()
    await writer.write(planned, entry)
  }

  parser.on('entry', (entry: ReadEntry) => {
    current = entry
    entry.on('error', fail)
    if (problem) return void entry.resume()
    const accepted = accept(entry).catch((error: unknown) => {
      fail(error)
      entry.resume()
    })
    written = Promise.all([written, accepted])
  })
  parser.on('ignoredEntry', (entry: ReadEntry) => {
    fail(new PkgdError('ARCHIVE_UNSAFE', `${name} holds "${entry.path}", an entry of a type that is not allowed (${entry.type})`))
  })
  parser.on('warn', (code: string, message: string) => fail(damaged(`${message} (${code})`)))
  parser.on('error', (error: Error) => fail(damaged(error.message)))
  parser.on('eof', () => {
    ended = true
  })
  parser.on('drain', () => wake?.())

  /** Gives the parser a chunk; `done` is called when it can take the next one, or at the first problem. */
  const feed = (chunk: Buffer, done: (error?: Error | null) => void) => {
    wake = () => {
      wake = undefined
      done(problem)
    }
    if (parser.write(chunk)) wake?.()
  }

  const stream = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      streamed += chunk.length
      if (streamed > limits.archiveBytes + (entries + 1024) * overheadPerEntry) fail(tooLarge(`${limits.archiveBytes} bytes`))
      if (problem) return callback(problem)
      if (!head) return feed(chunk, callback)
      head = Buffer.concat([head, chunk])
      if (head.length < block) return callback()
      const first = head
      head = undefined
      if (first[0] === 0x1f && first[1] === 0x8b) return callback(damaged('it is compressed twice'))
      if (first.toString('latin1', 0, 4) === 'PK\x03\x04') return callback(damaged('it is a zip file; a tar archive is expected'))
      feed(first, callback)
    },
    final(callback) {
      if (head) return callback(damaged('it is shorter than any archive'))
      parser.once('end', () => {
        written.then(() => callback(problem), callback)
      })
      parser.end()
    },
  })

  return {
    stream,
    /** After the stream's end: writes links and checks what can only be checked now. */
    finish(): { entries: number; bytes: number } {
      if (problem) throw problem
      if (entries === 0) throw damaged('it holds nothing')
      if (options.demandEnd && !ended) throw damaged('it ends without the end marker of a tar archive')
      writer.finish()
      return { entries, bytes }
    },
    /** After a failure: resolves when nothing is being written any more. */
    async abandon(): Promise<void> {
      fail(new Error('abandoned'))
      if (current && !current.emittedEnd) current.destroy(new Error('abandoned'))
      await written
    },
  }
}
