import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

const listening = '0A'

/** Inode numbers of the sockets that listen on a port, from /proc/net/tcp and tcp6 (proc(5)). */
async function listenInodes(port: number): Promise<Set<string>> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  const rows = tables.flatMap((table) => table.split('\n').map((row) => row.trim().split(/\s+/)))
  return new Set(rows.filter((row) => row[1]?.endsWith(`:${hex}`) && row[3] === listening).map((row) => String(row[9])))
}

/** Who listens on a port, as far as this user may see: `pid 12 (nginx)`. Undefined where that is not known; it is only ever said, never acted on. */
export async function findPortHolder(port: number): Promise<string | undefined> {
  const inodes = await listenInodes(port)
  if (inodes.size === 0) return undefined
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const descriptors = join('/proc', pid, 'fd')
    // Processes end while they are looked at, and others' are not ours to see.
    const names = await readdir(descriptors).catch(() => [])
    for (const name of names) {
      const target = await readlink(join(descriptors, name)).catch(() => '')
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1]
      if (inode === undefined || !inodes.has(inode)) continue
      const command = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
      return `pid ${pid}${command ? ` (${command.trim()})` : ''}`
    }
  }
  return undefined
}
