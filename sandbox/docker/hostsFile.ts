import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ContainerMount, hostsTarget } from './containerSpec.ts'

/** Writes the /etc/hosts of a sandbox without a network into `directory` and gives its mount: servers that listen on `localhost` inside their box do so. */
export async function writeHostsFile(directory: string): Promise<ContainerMount> {
  const source = join(directory, 'hosts')
  await writeFile(source, '127.0.0.1\tlocalhost sandbox\n::1\tlocalhost\n', { mode: 0o644 })
  return { kind: 'bind', source, target: hostsTarget, readOnly: true }
}
