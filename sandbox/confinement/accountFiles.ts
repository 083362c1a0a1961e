import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MountGrant } from '../../daemon/core/types.ts'

/** The name of every package's user inside its sandbox. */
const user = 'pkgd'

/**
 * Writes a sandbox's /etc/passwd and /etc/group into `directory` and gives their mounts. A uid of a package's own is in no image; programs that
 * ask for the name or the home of their user (`os.userInfo()`, `getpass.getuser()`) fail without an entry.
 */
export async function writeAccountFiles(directory: string, uid: number): Promise<MountGrant[]> {
  const files = {
    passwd: `root:x:0:0:root:/root:/bin/sh\n${user}:x:${uid}:${uid}::/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/false\n`,
    group: `root:x:0:\n${user}:x:${uid}:\nnogroup:x:65534:\n`,
  }
  return Promise.all(
    Object.entries(files).map(async ([name, content]) => {
      const source = join(directory, name)
      await writeFile(source, content, { mode: 0o644 })
      return { source, target: `/etc/${name}`, readOnly: true }
    }),
  )
}
