import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { PkgdError } from '../../daemon/core/errors.ts'

const inflate = promisify(inflateRaw)
const endSignature = 0x06054b50
const entrySignature = 0x02014b50
const localSignature = 0x04034b50
const mostEntries = 200_000
const largestDirectory = 64 * 1024 * 1024

interface ZipEntry {
  readonly path: string
  readonly method: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

/**
 * Reads a few small files out of a zip archive (a wheel) without unpacking it: nothing is written. Those whose path `wanted` accepts, as text; one larger than `mostBytes` is ARCHIVE_TOO_LARGE.
 * Zip64 and encryption are not needed here and are refused. Errors: ARCHIVE_DAMAGED, ARCHIVE_TOO_LARGE, ARCHIVE_UNSAFE.
 */
export async function readZip(path: string, wanted: (path: string) => boolean, mostBytes: number): Promise<ReadonlyMap<string, string>> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const found = new Map<string, string>()
    for (const entry of await readDirectory(file, size)) {
      if (!wanted(entry.path)) continue
      if (found.has(entry.path)) throw new PkgdError('ARCHIVE_UNSAFE', `The wheel holds "${entry.path}" more than once`)
      found.set(entry.path, await readEntry(file, entry, size, mostBytes))
    }
    return found
  } finally {
    await file.close()
  }
}

const damaged = (why: string, cause?: unknown): PkgdError =>
  new PkgdError('ARCHIVE_DAMAGED', `The wheel is damaged: ${why}`, { hint: 'download it again', cause })

async function readDirectory(file: FileHandle, size: number): Promise<ZipEntry[]> {
  const tail = await readAt(file, Math.max(0, size - 65_557), Math.min(size, 65_557))
  let end = tail.length - 22
  while (end >= 0 && tail.readUInt32LE(end) !== endSignature) end--
  if (end < 0) throw damaged('it has no directory')
  const count = tail.readUInt16LE(end + 10)
  const length = tail.readUInt32LE(end + 12)
  const offset = tail.readUInt32LE(end + 16)
  if (count === 0xffff || offset === 0xffffffff) throw damaged('it is in the form for very large archives')
  if (count > mostEntries || length > largestDirectory || offset + length > size) throw damaged('its directory is not where it says')
  return parseDirectory(await readAt(file, offset, length), count)
}

function parseDirectory(directory: Buffer, count: number): ZipEntry[] {
  const entries: ZipEntry[] = []
  let at = 0
  for (let index = 0; index < count; index++) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== entrySignature) throw damaged('its directory is cut off')
    const nameLength = directory.readUInt16LE(at + 28)
    const next = at + 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
    if (next > directory.length) throw damaged('its directory is cut off')
    if ((directory.readUInt16LE(at + 8) & 1) === 1) throw damaged('it is encrypted')
    entries.push({
      path: directory.toString('utf8', at + 46, at + 46 + nameLength),
      method: directory.readUInt16LE(at + 10),
      packed: directory.readUInt32LE(at + 20),
      size: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    })
    at = next
  }
  return entries
}

async function readEntry(file: FileHandle, entry: ZipEntry, fileSize: number, mostBytes: number): Promise<string> {
  if (entry.size > mostBytes || entry.packed > mostBytes) {
    throw new PkgdError('ARCHIVE_TOO_LARGE', `The wheel's "${entry.path}" is larger than ${mostBytes} bytes`)
  }
  if (entry.offset + 30 > fileSize) throw damaged(`"${entry.path}" is not where it says`)
  const local = await readAt(file, entry.offset, 30)
  if (local.readUInt32LE(0) !== localSignature) throw damaged(`"${entry.path}" is not where it says`)
  const start = entry.offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28)
  if (start + entry.packed > fileSize) throw damaged(`"${entry.path}" is cut off`)
  const packed = await readAt(file, start, entry.packed)
  if (entry.method === 0) return packed.toString('utf8')
  if (entry.method !== 8) throw damaged(`"${entry.path}" is packed in a way that is not known`)
  try {
    return (await inflate(packed, { maxOutputLength: mostBytes })).toString('utf8')
  } catch (error) {
    throw damaged(`"${entry.path}" cannot be unpacked`, error)
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, position)
  if (bytesRead < length) throw damaged('it is cut off')
  return buffer
}
