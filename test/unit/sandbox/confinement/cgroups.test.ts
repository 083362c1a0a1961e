import { describe, expect, it } from 'vitest'
import { parseCgroupMounts, parseCgroups } from '../../../../sandbox/confinement/cgroups.ts'
import { parseCapabilities, parseLimit } from '../../../../sandbox/confinement/kernelReading.ts'
import { parseNetworkBytes } from '../../../../sandbox/confinement/kernelUsage.ts'

describe('parseCgroups', () => {
  it('reads version 1, a controller a line or several', () => {
    const text = '12:pids:/docker/abc\n5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n1:name=systemd:/docker/abc\n'
    const paths = parseCgroups(text)
    expect(['pids', 'cpu', 'cpuacct', 'memory'].map((name) => paths.get(name))).toEqual(Array(4).fill('/docker/abc'))
    expect(paths.has('')).toBe(false)
  })

  it('reads version 2 under the empty name', () => {
    expect(parseCgroups('0::/system.slice/docker-abc.scope\n').get('')).toBe('/system.slice/docker-abc.scope')
  })
})

describe('parseCgroupMounts', () => {
  it('finds each hierarchy', () => {
    const text = [
      '32 24 0:28 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory',
      '33 24 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:10 - cgroup cgroup rw,cpu,cpuacct',
      '34 24 0:30 / /sys/fs/cgroup/unified rw,nosuid shared:11 - cgroup2 cgroup2 rw,nsdelegate',
      '35 24 0:31 / /proc rw,nosuid shared:12 - proc proc rw',
    ].join('\n')
    const points = parseCgroupMounts(text)
    expect(points.get('memory')).toBe('/sys/fs/cgroup/memory')
    expect(points.get('cpuacct')).toBe('/sys/fs/cgroup/cpu,cpuacct')
    expect(points.get('')).toBe('/sys/fs/cgroup/unified')
    expect(points.has('pids')).toBe(false)
  })
})

describe('parseLimit', () => {
  it.each([
    ['268435456\n', 268435456],
    ['max\n', Number.POSITIVE_INFINITY],
    ['-1\n', Number.POSITIVE_INFINITY],
    ['9223372036854771712\n', Number.POSITIVE_INFINITY],
    [null, null],
  ])('%j is %s', (text, value) => {
    expect(parseLimit(text)).toBe(value)
  })
})

describe('parseCapabilities', () => {
  it.each([
    ['0000000000000000', []],
    ['0000000000000001', ['CHOWN']],
    ['0000000000200400', ['NET_BIND_SERVICE', 'SYS_ADMIN']],
    ['0000010000000000', ['CHECKPOINT_RESTORE']],
  ])('%s', (mask, names) => {
    expect(parseCapabilities(mask)).toEqual(names)
  })
})

describe('parseNetworkBytes', () => {
  it('adds every interface but loopback', () => {
    const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:  999       9    0    0    0     0          0         0      999       9    0    0    0     0       0          0
  eth0:  100       1    0    0    0     0          0         0       20       1    0    0    0     0       0          0
  eth1:5       1    0    0    0     0          0         0       7       1    0    0    0     0       0          0
`
    expect(parseNetworkBytes(text)).toEqual({ networkRxBytes: 105, networkTxBytes: 27 })
  })
})
