import { watch } from 'node:fs'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../daemon/core/errors.ts'
import type { LogEntry, LogQuery } from '../sandboxDriver.ts'
import { runFile } from './sandboxRecord.ts'

/**
 * The lines that a supervisor keeps in `directory`. With `follow` it goes on until `ended` is resolved and everything is read, or the signal; the
 * kernel tells of new lines.
 */
export async function* readLog(directory: string, { follow, tail, signal }: LogQuery, ended: Promise<unknown>): AsyncGenerator<LogEntry> {
  const reader = await openLog(directory)
  if (!reader) return
  const wake = createWake()
  const watcher = follow ? watch(directory, () => wake.ring()) : undefined
  // A watched directory that is removed ends the watching, not the reading.
  watcher?.on('error', () => wake.ring())
  signal.addEventListener('abort', wake.ring)
  let over = !follow
  void ended.then(() => {
    over = true
    wake.ring()
  })
  try {
    const older = await readOlder(directory)
    const kept = [...older, ...(await reader.read())]
    yield* tail === undefined ? kept : kept.slice(Math.max(0, kept.length - tail))
    while (!signal.aborted) {
      const last = over
      for (const entry of await reader.read()) {
        if (signal.aborted) return
        yield entry
      }
      if (last) return
      await wake.wait()
    }
  } finally {
    signal.removeEventListener('abort', wake.ring)
    watcher?.close()
    await reader.close()
  }
}

interface LogFile {
  /** What has been written since the last time, across a change of files. */
  read(): Promise<LogEntry[]>
  close(): Promise<void>
}

async function openLog(directory: string): Promise<LogFile | undefined> {
  const path = join(directory, runFile.log)
  let file = await openIfThere(path)
  if (!file) return undefined
  let inode = (await file.stat()).ino
  let held = Buffer.alloc(0)

  const drain = async (from: FileHandle): Promise<LogEntry[]> => {
    const chunks = [held]
    const buffer = Buffer.alloc(64 * 1024)
    for (;;) {
      const { bytesRead } = await from.read(buffer, 0, buffer.length)
      if (bytesRead === 0) break
      chunks.push(Buffer.from(buffer.subarray(0, bytesRead)))
    }
    const all = Buffer.concat(chunks)
    const end = all.lastIndexOf(0x0a) + 1
    held = all.subarray(end)
    return parseEntries(all.subarray(0, end).toString())
  }

  return {
    async read() {
      if (!file) return []
      const entries = await drain(file)
      const next = await openIfThere(path)
      const nextInode = next ? (await next.stat()).ino : inode
      if (!next || nextInode === inode) {
        await next?.close()
        return entries
      }
      // The writer has gone on to a new file: first the rest of the old one, which nobody writes any more.
      entries.push(...(await drain(file)))
      await file.close()
      file = next
      inode = nextInode
      held = Buffer.alloc(0)
      entries.push(...(await drain(file)))
      return entries
    },
    close: async () => {
      await file?.close()
      file = undefined
    },
  }
}

async function readOlder(directory: string): Promise<LogEntry[]> {
  try {
    return parseEntries(await readFile(join(directory, runFile.olderLog), 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

/** The last line may be torn when the machine went down in the middle of it. */
function parseEntries(text: string): LogEntry[] {
  return text.split('\n').flatMap((line) => {
    if (line === '' || !line.endsWith('}')) return []
    return [JSON.parse(line) as LogEntry]
  })
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** A bell that is not missed when it rings before somebody waits. */
function createWake(): { ring: () => void; wait(): Promise<void> } {
  let rung = false
  let waiting: (() => void) | undefined
  return {
    ring() {
      rung = true
      waiting?.()
    },
    async wait() {
      if (!rung) {
        await new Promise<void>((resolve) => {
          waiting = resolve
        })
      }
      rung = false
      waiting = undefined
    },
  }
}
