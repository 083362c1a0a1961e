import type { LimitName } from '../sandboxDriver.ts'

export type Controller = 'memory' | 'pids' | 'cpu' | 'cpuacct' | 'freezer'

/** Where a controller can be used: `directory` is the root of its hierarchy. */
export interface Hierarchy {
  readonly version: 1 | 2
  readonly directory: string
}

export type Hierarchies = Readonly<Partial<Record<Controller, Hierarchy>>>

const inVersion1: readonly Controller[] = ['memory', 'pids', 'cpu', 'cpuacct', 'freezer']

/**
 * Which hierarchy holds each controller. A controller is in version 1 where a hierarchy of its own is mounted, else in version 2 where its root
 * offers it (`controllers` is that root's cgroup.controllers). Version 2 freezes by itself and accounts CPU time with `cpu`.
 */
export function findHierarchies(mountinfo: string, controllers: string): Hierarchies {
  const found: Partial<Record<Controller, Hierarchy>> = {}
  const mounts = mountinfo.split('\n').map(parseMount)
  for (const controller of inVersion1) {
    const mount = mounts.find((candidate) => candidate?.type === 'cgroup' && candidate.options.includes(controller))
    if (mount) found[controller] = { version: 1, directory: mount.point }
  }
  const unified = findUnifiedRoot(mountinfo)
  if (unified === null) return found
  const offered = controllers.trim().split(/\s+/)
  const second: Hierarchy = { version: 2, directory: unified }
  for (const controller of ['memory', 'pids', 'cpu'] as const) {
    if (!found[controller] && offered.includes(controller)) found[controller] = second
  }
  if (!found.cpuacct && found.cpu?.version === 2) found.cpuacct = second
  // Freezing is part of version 2 itself; it needs a hierarchy that the sandbox's processes are in for another reason.
  if (!found.freezer && Object.values(found).some(({ version }) => version === 2)) found.freezer = second
  return found
}

/** Where version 2 is mounted, or null. */
export function findUnifiedRoot(mountinfo: string): string | null {
  const mounts = mountinfo.split('\n').map(parseMount)
  return mounts.find((mount) => mount?.type === 'cgroup2')?.point ?? null
}

function parseMount(line: string): { point: string; type: string; options: string[] } | undefined {
  const [before = '', after] = line.split(' - ')
  const point = before.split(' ')[4]
  const [type = '', , options = ''] = after?.split(' ') ?? []
  return point === undefined || after === undefined ? undefined : { point: toPlainPath(point), type, options: options.split(',') }
}

/** mountinfo writes spaces and backslashes as octal. */
const toPlainPath = (path: string) => path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

/** The controller behind each limit; `/tmp` is bounded by its file system. */
export const controllerOf: Readonly<Record<Exclude<LimitName, 'tmp'>, Controller>> = { memory: 'memory', cpu: 'cpu', pids: 'pids' }
