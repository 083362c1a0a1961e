import { readFile } from 'node:fs/promises'
import { hasCode } from '../../daemon/core/errors.ts'
import { parseFlatKeyed } from './cgroupFiles.ts'

/** A counter of a cgroup's `key value` file; 0 when the file is gone. */
export async function readCounter({ file, key }: { readonly file: string; readonly key: string }): Promise<number> {
  try {
    return parseFlatKeyed(await readFile(file, 'utf8')).get(key) ?? 0
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENODEV')) return 0
    throw error
  }
}
