import { readFileSync } from 'node:fs'

/** Where a process is in each hierarchy: controller to path; version 2 is under the empty name. */
export function parseCgroups(text: string): Map<string, string> {
  const paths = new Map<string, string>()
  for (const line of text.split('\n')) {
    const found = /^\d+:([^:]*):(\/.*)$/.exec(line)
    if (found?.[1] === undefined || found[2] === undefined) continue
    for (const controller of found[1].split(',')) paths.set(controller, found[2])
  }
  return paths
}

/** Where each hierarchy is mounted: controller to mount point; version 2 is under the empty name. */
export function parseCgroupMounts(mountinfo: string): Map<string, string> {
  const points = new Map<string, string>()
  for (const line of mountinfo.split('\n')) {
    const [before, after] = line.split(' - ')
    const [type, , options = ''] = after?.split(' ') ?? []
    const point = before?.split(' ')[4]
    if (point === undefined) continue
    if (type === 'cgroup2') points.set('', point)
    if (type === 'cgroup') for (const option of options.split(',')) points.set(option, point)
  }
  return points
}

/** Reads files of a process's own cgroups; null for what is not there or not ours to read. */
export interface CgroupReader {
  /** Version 1 has a hierarchy a controller, version 2 one for all. */
  readonly hasHierarchy: (controller: string) => boolean
  /** `controller` is empty for version 2's. */
  read(controller: string, name: string): Promise<string | null>
  /** Whether the process is where it was: one that ends is moved to the root, whose limits are nobody's. What was read before holds only if so. */
  isUnmoved(): Promise<boolean>
}

export async function openCgroups(pid: number): Promise<CgroupReader> {
  const [groups, mountinfo] = await Promise.all([readIfThere(`/proc/${pid}/cgroup`), readIfThere('/proc/self/mountinfo')])
  const paths = parseCgroups(groups ?? '')
  const points = parseCgroupMounts(mountinfo ?? '')
  return {
    hasHierarchy: (controller) => points.has(controller),
    async read(controller, name) {
      const point = points.get(controller)
      const path = paths.get(controller)
      return point === undefined || path === undefined ? null : readIfThere(`${point}${path}/${name}`)
    },
    isUnmoved: async () => groups !== null && (await readIfThere(`/proc/${pid}/cgroup`)) === groups,
  }
}

/**
 * Null for a file that is not there or not ours to read: the value is then out of reach, and that is what is reported. The kernel answers from memory, so
 * a synchronous call blocks for microseconds; the thread pool's way takes twenty times that, at every start.
 */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
