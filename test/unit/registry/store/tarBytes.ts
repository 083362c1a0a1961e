/** One entry of an archive that is made by hand, so that it can be as wrong as no tool would make it. */
export interface RawEntry {
  readonly path: string
  /** The header's type flag; '0' is a file. */
  readonly type?: string
  readonly body?: string | Buffer
  readonly link?: string
  readonly mode?: number
  /** What the header says, where that is not the body's length. */
  readonly size?: number
  readonly checksum?: number
}

/** A plain tar archive. Without `end` the two closing zero blocks are missing. */
export function tarBytes(entries: readonly RawEntry[], options: { readonly end?: boolean } = {}): Buffer {
  const parts = entries.flatMap((entry) => {
    const body = Buffer.from(entry.body ?? '')
    return [header(entry, body.length), body, Buffer.alloc((512 - (body.length % 512)) % 512)]
  })
  return Buffer.concat(options.end === false ? parts : [...parts, Buffer.alloc(1024)])
}

/** A pax header that gives the next entry a path of any form. */
export function paxPath(path: string): RawEntry {
  const record = ` path=${path}\n`
  let length = Buffer.byteLength(record)
  while (String(length).length + Buffer.byteLength(record) !== length) length = String(length).length + Buffer.byteLength(record)
  return { path: 'PaxHeader', type: 'x', body: `${length}${record}` }
}

function header(entry: RawEntry, bodyLength: number): Buffer {
  const block = Buffer.alloc(512)
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
  block.write(entry.path, 0, 100)
  block.write(octal(entry.mode ?? 0o644, 8), 100)
  block.write(octal(0, 8), 108)
  block.write(octal(0, 8), 116)
  writeSize(block, entry.size ?? bodyLength, octal)
  block.write(octal(0, 12), 136)
  block.write(' '.repeat(8), 148)
  block.write(entry.type ?? '0', 156)
  block.write(entry.link ?? '', 157, 100)
  block.write('ustar\x0000', 257, 'latin1')
  const sum = entry.checksum ?? block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

function writeSize(block: Buffer, size: number, octal: (value: number, length: number) => string): void {
  if (size < 8 ** 11) block.write(octal(size, 12), 124)
  else {
    block[124] = 0x80
    block.writeBigUInt64BE(BigInt(size), 128)
  }
}
