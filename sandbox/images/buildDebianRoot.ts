import { spawn } from 'node:child_process'
import { readdir, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'

const packages = 'python3,python3-pip,ca-certificates,libstdc++6,libatomic1,tzdata'

const suites = /^VERSION_CODENAME="?([a-z]+)"?$/m

/** The suite to install from: this host's own when it is Debian, else the stable one. */
export function pickSuite(osRelease: string): string {
  return /^ID="?debian"?$/m.test(osRelease) ? (suites.exec(osRelease)?.[1] ?? 'stable') : 'stable'
}

/**
 * Fills `directory` with Debian's smallest system and its Python, by `debootstrap`. For a host that has no Python to give; needs root and Debian's
 * archive, takes about a minute. Errors: IMAGE_UNAVAILABLE.
 */
export async function buildDebianRoot(directory: string, signal: AbortSignal): Promise<void> {
  const hint = 'install Python 3.11 or newer on this host, or name an image in pkgd.yaml (images: python: …)'
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new PkgdError('IMAGE_UNAVAILABLE', 'This host has no Python 3.11 or newer, and installing one from Debian needs root on Linux', {
      hint,
    })
  }
  const suite = pickSuite(await readFile('/etc/os-release', 'utf8').catch(() => ''))
  const ended = await debootstrap(['--variant=minbase', `--include=${packages}`, suite, directory], signal)
  signal.throwIfAborted()
  if (ended.code !== 0) {
    throw new PkgdError(
      'IMAGE_UNAVAILABLE',
      `debootstrap could not install Debian's Python: ${ended.output.trim().split('\n').at(-1) ?? ''}`,
      {
        hint,
        cause: ended.cause,
      },
    )
  }
  await rm(join(directory, 'var/cache/apt'), { recursive: true, force: true })
  await rm(join(directory, 'var/lib/apt/lists'), { recursive: true, force: true })
  await rm(join(directory, 'dev'), { recursive: true, force: true })
  await rm(join(directory, 'usr/bin/python'), { force: true })
  await symlink('python3', join(directory, 'usr/bin/python'))
  // pip is there for the build sandbox: the mark that reserves this Python for apt does not apply in an image.
  for (const name of await readdir(join(directory, 'usr/lib'))) {
    if (name.startsWith('python3.')) await rm(join(directory, 'usr/lib', name, 'EXTERNALLY-MANAGED'), { force: true })
  }
}

interface Ended {
  readonly code: number | null
  readonly output: string
  readonly cause?: unknown
}

function debootstrap(args: readonly string[], signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve) => {
    // A group of its own: debootstrap's children end with it when the operation is cancelled.
    const child = spawn('debootstrap', args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let output = ''
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-8192)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    const cancel = () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }
    signal.addEventListener('abort', cancel, { once: true })
    const end = (ended: Ended) => {
      signal.removeEventListener('abort', cancel)
      resolve(ended)
    }
    child.on('error', (cause) => end({ code: null, output: 'debootstrap is not installed', cause }))
    child.on('close', (code) => end({ code, output }))
  })
}
