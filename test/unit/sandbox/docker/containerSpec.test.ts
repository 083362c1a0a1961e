import { describe, expect, it } from 'vitest'
import { parseLabels } from '../../../../sandbox/docker/containerLabels.ts'
import { type BoxSpec, boxMount, toContainerSpec } from '../../../../sandbox/docker/containerSpec.ts'

const limits = { memoryBytes: 256 << 20, cpus: 0.5, pids: 128, tmpBytes: 64 << 20 }
const box: BoxSpec = {
  name: 'pkgd-0011aabb-weather-abcdef',
  labels: {
    identity: { daemon: '0011aabb', packageId: 'weather', version: '1.0.0', spec: 'abc' },
    limits,
    network: 'none',
    stdio: 'pipes',
    purpose: 'package',
  },
  image: 'sha256:1234',
  command: ['node', 'server.mjs'],
  workingDirectory: '/app',
  uid: 200_001,
  limits,
  unsupported: [],
  mounts: [boxMount('/home/run/x/box'), { kind: 'bind', source: '/store/x', target: '/app', readOnly: true }],
  network: null,
  logBytes: 1 << 20,
}

describe('toContainerSpec', () => {
  it('holds a sandbox to every default', () => {
    const { HostConfig: host, ...container } = toContainerSpec(box)
    expect(host).toMatchObject({
      Memory: 268435456,
      MemorySwap: 268435456,
      NanoCpus: 500_000_000,
      PidsLimit: 128,
      ReadonlyRootfs: true,
      Privileged: false,
      CapAdd: [],
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Init: true,
      IpcMode: 'private',
      ShmSize: 67108864,
      NetworkMode: 'none',
      PublishAllPorts: false,
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '524288', 'max-file': '2' } },
      Tmpfs: { '/tmp': 'rw,exec,nosuid,nodev,size=67108864,mode=1777' },
    })
    expect(container).toMatchObject({
      User: '200001:200001',
      WorkingDir: '/app',
      Env: [],
      Image: 'sha256:1234',
      Tty: false,
      OpenStdin: false,
    })
    expect(container.NetworkingConfig).toBeUndefined()
  })

  it('starts the command by the starter, whatever the image would run', () => {
    const { Entrypoint, Cmd, Healthcheck } = toContainerSpec(box)
    expect([Entrypoint, Cmd].flat()).toEqual(['/bin/sh', '/run/pkgd/starter', 'node', 'server.mjs'])
    expect(Healthcheck).toEqual({ Test: ['NONE'] })
  })

  it('mounts the box and the tree read-only, without propagation', () => {
    const mounts = toContainerSpec(box).HostConfig?.Mounts
    expect(mounts).toEqual([
      { Type: 'bind', Source: '/home/run/x/box', Target: '/run/pkgd', ReadOnly: true, BindOptions: { Propagation: 'rprivate' } },
      { Type: 'bind', Source: '/store/x', Target: '/app', ReadOnly: true, BindOptions: { Propagation: 'rprivate' } },
    ])
  })

  it('leaves the engine no network to set up where there is none and the hosts file is given', () => {
    const hosts = { kind: 'bind', source: '/home/run/x/hosts', target: '/etc/hosts', readOnly: true } as const
    expect(toContainerSpec({ ...box, mounts: [hosts] })).toMatchObject({ NetworkDisabled: true, HostConfig: { NetworkMode: 'none' } })
    expect(toContainerSpec(box).NetworkDisabled).toBe(false)
    const network = { name: box.name, address: '10.83.0.2', resolver: '10.83.0.1' }
    expect(toContainerSpec({ ...box, mounts: [hosts], network }).NetworkDisabled).toBe(false)
  })

  it('gives a network of its own its address and the resolver alone', () => {
    const { HostConfig: host, NetworkingConfig: networking } = toContainerSpec({
      ...box,
      network: { name: box.name, address: '10.83.0.2', resolver: '10.83.0.1' },
    })
    expect(host).toMatchObject({ NetworkMode: box.name, Dns: ['10.83.0.1'] })
    expect(networking?.EndpointsConfig?.[box.name]).toEqual({ IPAMConfig: { IPv4Address: '10.83.0.2' } })
  })

  it.each([
    { limit: 'memory', absent: ['Memory', 'MemorySwap'] },
    { limit: 'cpu', absent: ['NanoCpus'] },
    { limit: 'pids', absent: ['PidsLimit'] },
  ] as const)('does not ask for a $limit limit that the engine cannot take', ({ limit, absent }) => {
    const host = toContainerSpec({ ...box, unsupported: [limit] }).HostConfig
    for (const key of absent) expect(host).not.toHaveProperty(key)
  })

  it('keeps stdin open for attach alone', () => {
    expect(toContainerSpec({ ...box, labels: { ...box.labels, stdio: 'attach' } }).OpenStdin).toBe(true)
  })

  it('has labels from which all of it can be told again', () => {
    expect(parseLabels(toContainerSpec(box).Labels ?? {})).toEqual(box.labels)
  })
})

describe('parseLabels', () => {
  it('knows nothing of a container without a daemon', () => {
    expect(parseLabels({ 'io.pkgd.package': 'weather' })).toBeUndefined()
    expect(parseLabels({})).toBeUndefined()
  })

  it('reads a container of an older daemon, that says less, as the tightest', () => {
    expect(parseLabels({ 'io.pkgd.daemon': '0011aabb' })).toEqual({
      identity: { daemon: '0011aabb', packageId: '', version: '', spec: '' },
      limits: { memoryBytes: 0, cpus: 0, pids: 0, tmpBytes: 0 },
      network: 'none',
      stdio: 'pipes',
      purpose: 'package',
    })
  })
})
