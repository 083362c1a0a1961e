import { describe, expect, it } from 'vitest'
import { toLimitWrites } from '../../../../sandbox/bubblewrap/cgroupFiles.ts'
import { findHierarchies } from '../../../../sandbox/bubblewrap/cgroupHierarchies.ts'

const mount = (point: string, type: string, options: string) => `30 20 0:26 / ${point} rw,nosuid shared:9 - ${type} cgroup rw,${options}`
const first = (directory: string) => ({ version: 1, directory })
const second = { version: 2, directory: '/sys/fs/cgroup' }

describe('findHierarchies', () => {
  it('version 1, some controllers mounted together', () => {
    const mountinfo = [
      mount('/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'cpu,cpuacct'),
      mount('/sys/fs/cgroup/memory', 'cgroup', 'memory'),
      mount('/sys/fs/cgroup/pids', 'cgroup', 'pids'),
      mount('/sys/fs/cgroup/freezer', 'cgroup', 'freezer'),
    ].join('\n')
    expect(findHierarchies(mountinfo, '')).toEqual({
      cpu: first('/sys/fs/cgroup/cpu,cpuacct'),
      cpuacct: first('/sys/fs/cgroup/cpu,cpuacct'),
      memory: first('/sys/fs/cgroup/memory'),
      pids: first('/sys/fs/cgroup/pids'),
      freezer: first('/sys/fs/cgroup/freezer'),
    })
  })

  it('version 2 alone', () => {
    const found = findHierarchies(mount('/sys/fs/cgroup', 'cgroup2', 'nsdelegate'), 'cpuset cpu io memory hugetlb pids rdma misc\n')
    expect(found).toEqual({ cpu: second, cpuacct: second, memory: second, pids: second, freezer: second })
  })

  it('both: version 1 has what it has mounted, and version 2 without its controllers freezes nothing', () => {
    const mountinfo = [mount('/sys/fs/cgroup/memory', 'cgroup', 'memory'), mount('/sys/fs/cgroup/unified', 'cgroup2', 'rw')].join('\n')
    expect(findHierarchies(mountinfo, 'hugetlb')).toEqual({ memory: first('/sys/fs/cgroup/memory') })
  })

  it('nothing mounted, and a path with a space', () => {
    expect(findHierarchies('', '')).toEqual({})
    expect(findHierarchies(mount('/mnt/c\\040g', 'cgroup', 'pids'), '')).toEqual({ pids: first('/mnt/c g') })
  })
})

describe('toLimitWrites', () => {
  const limits = { memoryBytes: 268435456, cpus: 0.25, pids: 64, tmpBytes: 1 }

  it.each([
    ['memory', 1, ['memory.limit_in_bytes 268435456', 'memory.memsw.limit_in_bytes 268435456']],
    ['memory', 2, ['memory.max 268435456', 'memory.swap.max 0']],
    ['cpu', 1, ['cpu.cfs_period_us 100000', 'cpu.cfs_quota_us 25000']],
    ['cpu', 2, ['cpu.max 25000 100000']],
    ['pids', 1, ['pids.max 64']],
    ['pids', 2, ['pids.max 64']],
  ] as const)('%s in version %d', (limit, version, lines) => {
    expect(toLimitWrites(limit, version, limits).map(({ file, value }) => `${file} ${value}`)).toEqual(lines)
  })
})
