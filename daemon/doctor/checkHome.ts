import { existsSync } from 'node:fs'
import { readdir, stat, statfs } from 'node:fs/promises'
import { basename } from 'node:path'
import { readLockfile } from '../../registry/lockfile/lockfileOnDisk.ts'
import type { Check } from '../api/schemas/info.ts'
import { hasCode, type PkgdError, toPkgdError } from '../core/errors.ts'
import { formatBytes } from '../core/formatBytes.ts'
import type { Home } from '../core/home.ts'
import type { State } from '../store/state.ts'

/** Less than this and installs soon fail. */
const littleDisk = 1024 ** 3

/** Whether the home, its token and its database are for their owner alone. */
export async function checkPermissions(home: Home): Promise<Check> {
  const check = { id: 'home', title: 'home' }
  const open: string[] = []
  for (const path of [home.root, home.token, home.state]) {
    try {
      if (((await stat(path)).mode & 0o077) !== 0) open.push(path)
    } catch (error) {
      // A token may come from the environment alone.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
  if (open.length === 0) return { ...check, status: 'ok', detail: `${home.root}, for its owner alone` }
  return {
    ...check,
    status: 'error',
    detail: `other users of this machine have access to ${open.join(', ')}`,
    hint: `chmod go-rwx ${open.join(' ')}`,
  }
}

export async function checkDisk(home: Home): Promise<Check> {
  const { bavail, bsize } = await statfs(home.root)
  const free = bavail * bsize
  const check = { id: 'disk', title: 'disk', detail: `${formatBytes(free)} free at ${home.root}` }
  return free < littleDisk ? { ...check, status: 'warning', hint: 'installs need space: free some' } : { ...check, status: 'ok' }
}

/** A `pkgd.yaml` that became invalid while the daemon runs: the next one would not start with it. */
export function checkConfig(home: Home, problem: PkgdError | null): Check {
  const check = { id: 'config', title: 'configuration' }
  if (!problem)
    return { ...check, status: 'ok', detail: existsSync(home.config) ? `${home.config} is valid` : 'the defaults: there is no pkgd.yaml' }
  const issues = problem.issues.map(({ pointer, message }) => `${pointer || '(document)'}: ${message}`)
  const wrong = issues.length > 0 ? `${home.config}: ${issues.join('; ')}` : problem.message
  return {
    ...check,
    status: 'error',
    detail: `${wrong}; what it said before holds until the daemon ends`,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
  }
}

export async function checkState(home: Home, { restored }: Pick<State, 'restored'>): Promise<Check> {
  const check = { id: 'state', title: 'state' }
  if (!restored) return { ...check, status: 'ok', detail: 'the database is sound' }
  const aside = (await readdir(home.root)).filter((name) => /^state\.db\.damaged-[^.]*$/.test(name))
  return {
    ...check,
    status: 'error',
    detail: `the database was damaged and set aside (${aside.join(', ') || 'it is gone since'}); sandboxes and data it knew are left alone`,
    hint: 'put a backup back, or install again: pkg install --frozen; then pkg doctor --repair sweeps what nobody knows',
  }
}

/** Whether what is installed could be installed again from the lockfile, and whether one was ever lost. */
export async function checkLockfile(home: Home): Promise<Check> {
  const check = { id: 'lockfile', title: 'lockfile' }
  try {
    const { packages } = await readLockfile(home.lockfile)
    const aside = (await readdir(home.root)).filter((name) => name.startsWith(`${basename(home.lockfile)}.damaged-`)).sort()
    const count = Object.keys(packages).length
    const detail = count === 1 ? '1 package is locked' : `${count} packages are locked`
    if (aside.length === 0) return { ...check, status: 'ok', detail }
    return {
      ...check,
      status: 'warning',
      detail: `${detail}; it was damaged, set aside (${aside.join(', ')}) and made anew from what is installed`,
      hint: `compare the two, then remove it: rm ${aside.map((name) => `${home.lockfile}${name.slice(basename(home.lockfile).length)}`).join(' ')}`,
    }
  } catch (error) {
    const { message, code } = toPkgdError(error)
    if (code !== 'LOCKFILE_DAMAGED') throw error
    return {
      ...check,
      status: 'warning',
      detail: message,
      hint: 'put a backup back; else the next install sets it aside and makes it anew from what is installed',
    }
  }
}
