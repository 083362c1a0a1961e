import { execFile } from 'node:child_process'
import { chmod, chown, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { toEnvFile } from './envFile.ts'

const starterSource = join(import.meta.dirname, 'starter.sh')

export interface BoxDirectoryOptions {
  /** Absolute path; must not exist. Its parents are made, private to the daemon. */
  readonly directory: string
  /** The user and group that the package runs as. */
  readonly uid: number
  readonly env: Readonly<Record<string, string>>
  /** With `pipes` the named pipes `in` and `out` are made. */
  readonly stdio: 'pipes' | 'attach'
}

/**
 * Makes what a sandbox finds at /run/pkgd: the starter, the env file and, for `pipes`, the two named pipes. The directory is the daemon's: the
 * package opens what is inside but can neither remove nor replace it. As root the env file and the pipes are the package's user's alone; without
 * root, where another user's file cannot be made, they are open to whoever reaches the directory, which its private parent keeps to the daemon.
 * Errors: USAGE for a variable that cannot be passed; a failure leaves nothing behind.
 */
export async function createBoxDirectory({ directory, uid, env, stdio }: BoxDirectoryOptions): Promise<void> {
  const envFile = toEnvFile(env)
  await mkdir(dirname(directory), { recursive: true, mode: 0o700 })
  await mkdir(directory, { mode: 0o755 })
  try {
    const give = ownership(uid)
    const files = [{ path: join(directory, 'env'), mode: 0o400 }]
    await writeFile(join(directory, 'env'), envFile, { mode: 0o600, flag: 'wx' })
    await copyFile(starterSource, join(directory, 'starter'))
    await chmod(join(directory, 'starter'), 0o555)
    if (stdio === 'pipes') {
      const pipes = [join(directory, 'in'), join(directory, 'out')]
      await promisify(execFile)('mkfifo', ['-m', '600', ...pipes])
      files.push(...pipes.map((path) => ({ path, mode: 0o600 })))
    }
    for (const { path, mode } of files) await give(path, mode)
    await chmod(directory, 0o755)
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

/** How a file becomes the package's: by its owner as root, or when the package runs as this very user; else by its mode. */
function ownership(uid: number): (path: string, mode: number) => Promise<void> {
  const self = process.getuid?.()
  if (self === 0) {
    return async (path, mode) => {
      await chown(path, uid, uid)
      await chmod(path, mode)
    }
  }
  if (self === uid) return chmod
  return (path, mode) => chmod(path, mode | (mode >> 3) | (mode >> 6))
}
