import { describe, expect, it } from 'vitest'
import { toSandboxStats } from '../../../../sandbox/docker/containerStats.ts'
import { createEngineApi } from '../../../../sandbox/docker/createEngineApi.ts'
import { parseRuntimes, toPullReference } from '../../../../sandbox/docker/dockerImages.ts'
import { toBridgeName } from '../../../../sandbox/docker/dockerNetworks.ts'
import { pickApiVersion } from '../../../../sandbox/docker/engineApi.ts'
import { listEngineSockets, pickEngineEndpoint } from '../../../../sandbox/docker/engineEndpoint.ts'
import { toEngineError } from '../../../../sandbox/docker/engineError.ts'
import { createRepetitionFilter, parseEngineEvent } from '../../../../sandbox/docker/engineEvents.ts'
import { toUnenforced } from '../../../../sandbox/docker/engineTraits.ts'

describe('pickEngineEndpoint', () => {
  const there =
    (...paths: string[]) =>
    (path: string) =>
      paths.includes(path)
  const socket = (path: string) => ({ kind: 'socket', path })

  it.each([
    { why: 'DOCKER_HOST is a socket', env: { DOCKER_HOST: 'unix:///x/y.sock' }, exists: [], is: socket('/x/y.sock') },
    {
      why: 'DOCKER_HOST is elsewhere',
      env: { DOCKER_HOST: 'tcp://far:2376' },
      exists: [],
      is: { kind: 'environment', host: 'tcp://far:2376' },
    },
    { why: 'DOCKER_HOST names no path', env: { DOCKER_HOST: 'unix://' }, exists: [], is: socket('/var/run/docker.sock') },
    { why: 'nothing is there', env: {}, exists: [], is: socket('/var/run/docker.sock') },
    {
      why: 'an engine without root',
      env: { XDG_RUNTIME_DIR: '/run/user/7' },
      exists: ['/run/user/7/docker.sock'],
      is: socket('/run/user/7/docker.sock'),
    },
    { why: 'Colima', env: {}, exists: ['/home/me/.colima/default/docker.sock'], is: socket('/home/me/.colima/default/docker.sock') },
    { why: 'Podman', env: {}, exists: ['/run/podman/podman.sock'], is: socket('/run/podman/podman.sock') },
    {
      why: 'two, the usual one first',
      env: {},
      exists: ['/run/podman/podman.sock', '/var/run/docker.sock'],
      is: socket('/var/run/docker.sock'),
    },
  ])('$why', ({ env, exists, is }) => {
    expect(pickEngineEndpoint(env, there(...exists), '/home/me')).toEqual(is)
  })

  it.each(['garbage', 'ssh://me@host', 'npipe:////./pipe/docker_engine', 'tcp://', 'host:2375'])(
    '%s is no endpoint, and is named',
    async (host) => {
      const endpoint = pickEngineEndpoint({ DOCKER_HOST: host }, there(), '/home/me')
      expect(endpoint).toEqual({ kind: 'unsupported', host })
      await expect(createEngineApi(endpoint).version()).rejects.toMatchObject({
        code: 'ENGINE_UNREACHABLE',
        message: expect.stringContaining(`DOCKER_HOST=${host.replace('me@', '***@')} is not supported`),
        hint: expect.stringContaining('unix:///'),
      })
    },
  )

  it('looks in no place twice', () => {
    const sockets = listEngineSockets({ XDG_RUNTIME_DIR: '/run/user/7' }, '/home/me')
    expect(new Set(sockets).size).toBe(sockets.length)
  })
})

describe('pickApiVersion', () => {
  it.each([
    { apiVersion: '1.41', minApiVersion: '1.12', is: '1.41' },
    { apiVersion: '1.47', minApiVersion: '1.24', is: '1.47' },
    { apiVersion: '1.52', minApiVersion: '1.44', is: '1.47' },
    { apiVersion: '1.60', minApiVersion: '1.50', is: '1.50' },
    { apiVersion: '1.9', minApiVersion: '1.2', is: '1.9' },
  ])('$minApiVersion to $apiVersion: $is', ({ is, ...engine }) => {
    expect(pickApiVersion(engine)).toBe(is)
  })
})

describe('toEngineError', () => {
  const http = (statusCode: number, message: string) =>
    Object.assign(new Error(`(HTTP code ${statusCode}) unexpected - ${message} `), { statusCode })
  const system = (code: string) => Object.assign(new Error(`connect ${code} /var/run/docker.sock`), { code })

  it.each([
    [system('ENOENT'), 'ENGINE_UNREACHABLE'],
    [system('ECONNREFUSED'), 'ENGINE_UNREACHABLE'],
    [system('EACCES'), 'ENGINE_UNREACHABLE'],
    [new Error('socket hang up'), 'ENGINE_UNREACHABLE'],
    [http(404, 'No such image: node:1'), 'IMAGE_UNAVAILABLE'],
    [http(404, 'No such container: abc'), 'SANDBOX_NOT_FOUND'],
    [http(400, 'invalid mount config for type "bind": bind source path does not exist: /x'), 'MOUNT_REFUSED'],
    [
      http(400, 'invalid mount config: must use either propagation mode "rslave" or "rshared" when mount source is within the daemon root'),
      'MOUNT_REFUSED',
    ],
    [http(500, 'write /var/lib/docker/x: no space left on device'), 'DISK_FULL'],
    [http(500, 'something else'), 'INTERNAL'],
    // A file that the engine itself misses is no engine that is away.
    [Object.assign(http(500, 'ENOENT'), { code: 'ENOENT' }), 'INTERNAL'],
  ])('%s is %s', (error, code) => {
    expect(toEngineError(error, 'do it')).toMatchObject({ code, cause: error })
  })

  it("says the engine's own words, without the client's", () => {
    expect(toEngineError(http(500, 'it broke'), 'start the container').message).toBe(
      'The container engine could not start the container: it broke',
    )
  })
})

describe('parseEngineEvent', () => {
  it('reads what Docker says', () => {
    const line =
      '{"status":"die","id":"abc","from":"sha256:1","Type":"container","Action":"die","Actor":{"ID":"abc","Attributes":{"exitCode":"137","name":"pkgd-x"}},"scope":"local","time":1763770278,"timeNano":1763770278123456789}'
    expect(parseEngineEvent(line)).toMatchObject({
      type: 'container',
      action: 'die',
      id: 'abc',
      attributes: { exitCode: '137', name: 'pkgd-x' },
    })
  })

  it('reads an engine that knows seconds only', () => {
    expect(parseEngineEvent('{"status":"start","id":"abc","time":5}')).toEqual({
      type: 'container',
      action: 'start',
      id: 'abc',
      attributes: {},
      timeNano: 5e9,
    })
  })
})

describe('createRepetitionFilter', () => {
  const event = (action: string, timeNano: number, id = 'abc') => ({ type: 'container', action, id, attributes: {}, timeNano })

  it('lets each event through once, whatever the order', () => {
    const isNew = createRepetitionFilter()
    const told = [
      event('pause', 5),
      event('unpause', 6),
      event('pause', 5),
      event('unpause', 6),
      event('pause', 4),
      event('pause', 5, 'other'),
    ]
    expect(told.map(isNew)).toEqual([true, true, false, false, true, true])
  })

  it('forgets the oldest', () => {
    const isNew = createRepetitionFilter()
    for (let time = 0; time < 10_000; time++) expect(isNew(event('exec', time))).toBe(true)
    expect(isNew(event('exec', 9_999))).toBe(false)
    expect(isNew(event('exec', 0))).toBe(true)
  })
})

describe('toUnenforced', () => {
  it('names what the kernel lacks', () => {
    expect(toUnenforced({ memoryLimit: true, swapLimit: true, cpuQuota: true, pidsLimit: true })).toEqual({})
    expect(Object.keys(toUnenforced({ memoryLimit: false, swapLimit: true, cpuQuota: false, pidsLimit: false }))).toEqual([
      'memory',
      'cpu',
      'pids',
    ])
  })
})

describe('images', () => {
  it.each([
    ['node', 'node:latest'],
    ['node:26', 'node:26'],
    ['host:5000/node', 'host:5000/node:latest'],
    ['host:5000/node:26', 'host:5000/node:26'],
    ['node@sha256:00', 'node@sha256:00'],
    ['host:5000/a/b@sha256:00', 'host:5000/a/b@sha256:00'],
  ])('%s is pulled as %s', (reference, pulled) => {
    expect(toPullReference(reference)).toBe(pulled)
  })

  it.each([
    [{}, ['NODE_VERSION=26.10.0', 'PATH=/bin'], { node: '26.10.0' }],
    [{}, ['PYTHON_VERSION=3.13.1'], { python: '3.13.1' }],
    [{ 'io.pkgd.runtimes': 'node=26.10.0 python=3.11.7' }, ['NODE_VERSION=1.0.0'], { node: '26.10.0', python: '3.11.7' }],
    [{}, [], {}],
  ])('%o and %o say %o', (labels, env, runtimes) => {
    expect(parseRuntimes(labels, env)).toEqual(runtimes)
  })
})

describe('toBridgeName', () => {
  it('is a name that an interface can have, one a sandbox', () => {
    const names = Array.from({ length: 200 }, (_, index) => toBridgeName(`pkgd-0011aabb-weather-${index}`))
    for (const name of names) expect(name).toMatch(/^[a-z0-9]{1,15}$/)
    expect(new Set(names).size).toBe(200)
  })
})

describe('toSandboxStats', () => {
  it("counts memory as the engine's client does, and every network", () => {
    const usage = {
      memory_stats: { usage: 1000, limit: 5000, stats: { total_inactive_file: 300 } },
      cpu_stats: { cpu_usage: { total_usage: 2_500_000_000 } },
      pids_stats: { current: 7 },
      networks: { eth0: { rx_bytes: 1, tx_bytes: 2 }, eth1: { rx_bytes: 10, tx_bytes: 20 } },
    }
    expect(toSandboxStats(usage)).toEqual({
      memoryBytes: 700,
      memoryLimitBytes: 5000,
      cpuSeconds: 2.5,
      pids: 7,
      networkRxBytes: 11,
      networkTxBytes: 22,
    })
  })
})
