import { constants } from 'node:fs'
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { Limits } from '../../daemon/core/types.ts'
import type { LimitName } from '../sandboxDriver.ts'
import { oomCounters, parseFlatKeyed, toLimitWrites } from './cgroupFiles.ts'
import { type Controller, controllerOf, findHierarchies, findUnifiedRoot, type Hierarchies, type Hierarchy } from './cgroupHierarchies.ts'
import { killAll, readMembers } from './cgroupMembers.ts'

/** The cgroups of one sandbox, one directory a hierarchy. They are its handle: what is in them is the sandbox. */
export interface Cgroup {
  /** A process that writes its id to each of these is in the sandbox. */
  readonly entrances: readonly string[]
  /** The file that lists what is inside; null where there are no cgroups. */
  readonly roll: string | null
  /** Host process ids of everything inside. */
  members(): Promise<number[]>
  /** Where the kernel counts what it killed for the memory limit; null where nothing limits it. */
  readonly oomCounter: { readonly file: string; readonly key: string } | null
  readonly freezable: boolean
  freeze(): Promise<void>
  thaw(): Promise<void>
  isFrozen(): Promise<boolean>
  /** Ends every process inside, frozen or not; resolves when none is left. */
  kill(): Promise<void>
  /** Nothing may be inside. Already gone is fine. */
  remove(): Promise<void>
}

export interface CgroupTree {
  /** Limits that this host has no controller for, or lets nobody use, each with the reason. */
  unenforced(): Promise<Partial<Record<LimitName, string>>>
  create(name: string, limits: Limits): Promise<Cgroup>
  /** The cgroups of a sandbox that another daemon made. */
  open(name: string): Promise<Cgroup>
  /** Names that have a directory in any hierarchy. */
  list(): Promise<string[]>
  /** Removes the directory above all sandboxes when none is left in it. */
  tidy(): Promise<void>
}

/** Cgroups below `pkgd-<daemon>` at the root of each hierarchy. */
export function createCgroupTree(daemonId: string): CgroupTree {
  const group = `pkgd-${daemonId}`
  let known: Promise<Hierarchies> | undefined
  const hierarchies = () => {
    known ??= readHierarchies()
    return known
  }

  const open = async (name: string): Promise<Cgroup> => openCgroup(await hierarchies(), join(group, name))

  return {
    async unenforced() {
      const reasons: Partial<Record<LimitName, string>> = {}
      const found = await hierarchies()
      for (const [limit, controller] of Object.entries(controllerOf) as [Exclude<LimitName, 'tmp'>, Controller][]) {
        const reason = await whyUnusable(found, controller)
        if (reason !== null) reasons[limit] = reason
      }
      return reasons
    },
    async create(name, limits) {
      const found = await hierarchies()
      const usable = await pickUsable(found)
      for (const directory of directoriesOf(usable, group)) await makeDirectory(directory)
      for (const [controller, { version, directory }] of Object.entries(usable) as [Controller, Hierarchy][]) {
        if (version === 2) await passOn(join(directory, group), controller)
      }
      const cgroup = await openCgroup(usable, join(group, name))
      for (const directory of directoriesOf(usable, join(group, name))) await makeDirectory(directory)
      try {
        await setLimits(usable, join(group, name), limits)
      } catch (error) {
        await cgroup.remove()
        throw error
      }
      return cgroup
    },
    open,
    async list() {
      const names = await Promise.all(directoriesOf(await hierarchies(), group).map(listDirectories))
      return [...new Set(names.flat())]
    },
    async tidy() {
      for (const directory of directoriesOf(await hierarchies(), group)) {
        if ((await listDirectories(directory)).length === 0) await removeDirectory(directory)
      }
    },
  }
}

async function readHierarchies(): Promise<Hierarchies> {
  const mountinfo = await readFile('/proc/self/mountinfo', 'utf8')
  const root = findUnifiedRoot(mountinfo)
  return findHierarchies(mountinfo, root === null ? '' : ((await readOrNull(join(root, 'cgroup.controllers'))) ?? ''))
}

async function whyUnusable(found: Hierarchies, controller: Controller): Promise<string | null> {
  const hierarchy = found[controller]
  if (!hierarchy) return `this host has no ${controller} cgroup controller`
  try {
    await access(hierarchy.directory, constants.W_OK)
    if (hierarchy.version === 2) await passOn(hierarchy.directory, controller)
    return null
  } catch (error) {
    // EBUSY: the root that is seen here is not the real one, and has processes in it.
    const code = ['EACCES', 'EPERM', 'EROFS', 'EBUSY'].find((candidate) => hasCode(error, candidate))
    if (code === undefined) throw error
    return `the daemon may not use the ${controller} cgroup controller at ${hierarchy.directory} (${code})`
  }
}

/** Version 2 gives a controller to the children of a cgroup only where it is passed on. What version 2 does by itself needs no passing on. */
async function passOn(directory: string, controller: Controller): Promise<void> {
  const offered = (await readFile(join(directory, 'cgroup.controllers'), 'utf8')).split(/\s+/)
  if (!offered.includes(controller)) return
  const file = join(directory, 'cgroup.subtree_control')
  const enabled = (await readFile(file, 'utf8')).split(/\s+/)
  if (!enabled.includes(controller)) await writeFile(file, `+${controller}`)
}

async function pickUsable(found: Hierarchies): Promise<Hierarchies> {
  const usable: Partial<Record<Controller, Hierarchies[Controller]>> = {}
  for (const controller of Object.keys(found) as Controller[]) {
    if ((await whyUnusable(found, controller)) === null) usable[controller] = found[controller]
  }
  return usable as Hierarchies
}

const directoriesOf = (found: Hierarchies, path: string): string[] => [
  ...new Set(Object.values(found).map(({ directory }) => join(directory, path))),
]

async function setLimits(found: Hierarchies, path: string, limits: Limits): Promise<void> {
  for (const [limit, controller] of Object.entries(controllerOf) as [Exclude<LimitName, 'tmp'>, Controller][]) {
    const hierarchy = found[controller]
    if (!hierarchy) continue
    for (const { file, value, ifPresent } of toLimitWrites(limit, hierarchy.version, limits)) {
      try {
        await writeFile(join(hierarchy.directory, path, file), value, { flag: 'r+' })
      } catch (error) {
        if (ifPresent && hasCode(error, 'ENOENT')) continue
        throw new PkgdError('LIMIT_NOT_ENFORCED', `The kernel refused the ${limit} limit (${file} = ${value})`, { cause: error })
      }
    }
  }
}

function openCgroup(found: Hierarchies, path: string): Cgroup {
  const directories = directoriesOf(found, path)
  const { freezer, memory } = found
  const freezerFile = freezer && join(freezer.directory, path, freezer.version === 1 ? 'freezer.state' : 'cgroup.freeze')

  // A process is in all of them; one is enough, and the freezer's is the one that stops what it lists.
  const roll = freezer ? join(freezer.directory, path, 'cgroup.procs') : directories[0] && join(directories[0], 'cgroup.procs')
  const members = () => (roll === undefined ? Promise.resolve([]) : readMembers(roll))
  const isFrozen = async () => {
    if (!freezer) return false
    if (freezer.version === 1) return (await readOrNull(join(freezer.directory, path, 'freezer.state')))?.trim() === 'FROZEN'
    const events = await readOrNull(join(freezer.directory, path, 'cgroup.events'))
    return parseFlatKeyed(events ?? '').get('frozen') === 1
  }
  const setFrozen = async (frozen: boolean) => {
    if (!freezer || !freezerFile) throw new PkgdError('CONFLICT', 'This host has no cgroup freezer')
    const word = freezer.version === 1 ? (frozen ? 'FROZEN' : 'THAWED') : frozen ? '1' : '0'
    await writeFile(freezerFile, word, { flag: 'r+' })
  }

  return {
    entrances: directories.map((directory) => join(directory, 'cgroup.procs')),
    roll: roll ?? null,
    members,
    oomCounter: memory ? { ...oomCounters[memory.version], file: join(memory.directory, path, oomCounters[memory.version].file) } : null,
    freezable: freezer !== undefined,
    isFrozen,
    async freeze() {
      // The kernel stops one process after another and says when the last one has; while they fork it has to be told again.
      for (let attempt = 0; attempt < 200; attempt++) {
        await setFrozen(true)
        if (await isFrozen()) return
        await delay(2)
      }
      throw new PkgdError('CONFLICT', 'The sandbox did not freeze: a process of it is waiting in the kernel')
    },
    thaw: () => setFrozen(false),
    async kill() {
      for (let attempt = 0; attempt < 500; attempt++) {
        const processes = await members()
        if (processes.length === 0) return
        // Frozen processes cannot fork away from their end; it comes when they thaw.
        if (freezer && attempt === 0) await setFrozen(true)
        killAll(processes)
        if (freezer) await setFrozen(false)
        await delay(attempt < 20 ? 1 : 10)
      }
      throw new PkgdError('STOP_TIMEOUT', 'Processes of the sandbox do not end: they are waiting in the kernel')
    },
    async remove() {
      for (const directory of directories) await removeDirectory(directory)
    },
  }
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

/** A cgroup whose last process is a zombie, or being counted out, is busy for a moment more. */
async function removeDirectory(path: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await rmdir(path)
      return
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      if (!hasCode(error, 'EBUSY') || attempt === 200) throw error
      await delay(5)
    }
  }
}

async function listDirectories(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

/** Null for a file of a cgroup that is not there, or no longer. */
async function readOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENODEV')) return null
    throw error
  }
}
