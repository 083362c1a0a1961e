import { createHash } from 'node:crypto'
import { access, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { hasCode } from '../../../daemon/core/errors.ts'

/** The Python of a virtual environment with these requirements, kept in the temporary folder from one run to the next. */
export async function pythonEnvironment(requirements: readonly string[]): Promise<string> {
  const { stdout: version } = await execa('python3', ['-c', 'import sys; print(sys.executable, sys.version)'])
  const key = createHash('sha256')
    .update(JSON.stringify([version, requirements]))
    .digest('hex')
    .slice(0, 16)
  const kept = join(tmpdir(), `pkgd-test-python-${key}`)
  if (!(await exists(kept))) await make(kept, requirements)
  return join(kept, 'bin', 'python')
}

/** Made beside and renamed, so that a run that dies half-way leaves no half environment under the name. */
async function make(kept: string, requirements: readonly string[]): Promise<void> {
  const made = await mkdtemp(`${kept}-`)
  try {
    await execa('python3', ['-m', 'venv', '--copies', made])
    await execa(join(made, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', ...requirements])
    await rename(made, kept).catch((error: unknown) => {
      // Another run was faster.
      if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'EEXIST')) throw error
    })
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
