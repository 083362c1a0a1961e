import { expect, test } from 'vitest'
import { PkgdError } from '../../daemon/core/errors.ts'
import { createPackage, createTestApi, authorization as headers } from './testApi.ts'

type Answer = Awaited<ReturnType<ReturnType<typeof createTestApi>['app']['inject']>>

test('a package as it is shown: limits as asked and as they hold, names of values and no value', async () => {
  await using api = createTestApi()
  api.packages.set('weather', createPackage('weather'))
  const response = await api.app.inject({ url: '/v1/packages/weather', headers })
  expect(response.statusCode).toBe(200)
  expect(response.json()).toMatchObject({
    id: 'weather',
    state: 'running',
    health: 'healthy',
    limits: {
      asked: { memoryBytes: 268435456, cpus: 1, pids: 128, tmpBytes: 67108864 },
      effective: { memoryBytes: 268435456, cpus: 1, pids: 128, tmpBytes: null },
    },
    sandbox: { id: 'c1', driver: 'fake', readOnlyRoot: true, limits: { memory: { asked: 268435456, engine: 268435456, enforced: true } } },
    network: { mode: 'allow', targets: [{ host: 'api.example.com', port: 443 }] },
    mounts: [{ source: '/docs', target: '/docs', mode: 'ro' }],
    env: ['UNITS'],
    secrets: ['KEY'],
  })
  expect(response.body).not.toContain('a-value-that-stays-inside')
})

test('lists are bare arrays, filtered and paged by a link that keeps its other parameters', async () => {
  await using api = createTestApi()
  for (const id of ['c', 'a', 'b', 'e', 'd']) api.packages.set(id, createPackage(id, id === 'e' ? 'stopped' : 'running'))
  const ids: string[] = []
  let url: string | undefined = '/v1/packages?limit=2&state=running'
  while (url) {
    const response: Answer = await api.app.inject({ url, headers })
    ids.push(...response.json<{ id: string }[]>().map(({ id }) => id))
    const link: unknown = response.headers.link
    url = /^<(.+)>; rel="next"$/.exec(typeof link === 'string' ? link : '')?.[1]
    if (url) expect(url).toContain('state=running')
  }
  expect(ids).toEqual(['a', 'b', 'c', 'd'])
  const wrong = await api.app.inject({ url: '/v1/packages?cursor=%21%21', headers })
  expect(wrong.json()).toMatchObject({ code: 'USAGE', status: 400 })
})

test('install answers 202 with a job that can be waited for, followed and found', async () => {
  await using api = createTestApi()
  const payload = {
    spec: '/src/weather',
    args: ['--verbose'],
    env: { A: '1' },
    secrets: { KEY: 'a-secret-value' },
    permissions: {
      network: { allow: ['API.example.com:443'] },
      filesystem: { mounts: [{ source: '/d', target: '/d' }] },
      memoryLimit: '1GB',
      cpuLimit: 0.5,
    },
    consent: true,
  }
  const response = await api.app.inject({ method: 'POST', url: '/v1/packages', headers, payload })
  expect(response.statusCode).toBe(202)
  const { job } = response.json()
  expect(response.headers.location).toBe(`/v1/jobs/${job.id}`)
  expect(response.body).not.toContain('a-secret-value')
  const stream = await api.app.inject({ url: `/v1/jobs/${job.id}/events`, headers })
  expect(stream.headers['content-type']).toBe('text/event-stream')
  const told = stream.body.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
  expect(told.at(-1)).toMatchObject({ state: 'succeeded', result: { package: { id: 'weather' }, installed: ['weather'], unchanged: [] } })
  expect((await api.app.inject({ url: `/v1/jobs/${job.id}`, headers })).json()).toMatchObject({ state: 'succeeded' })
  expect((await api.app.inject({ url: '/v1/jobs', headers })).json()).toHaveLength(1)
  expect(api.installs).toEqual([
    {
      spec: '/src/weather',
      args: ['--verbose'],
      env: { A: '1' },
      secrets: { KEY: 'a-secret-value' },
      permissions: {
        network: { mode: 'allow', targets: [{ host: 'api.example.com', port: 443 }] },
        mounts: [{ source: '/d', target: '/d', readOnly: true }],
        memoryBytes: 1024 ** 3,
        cpus: 0.5,
      },
      consent: true,
      start: false,
      frozen: false,
    },
  ])
})

test.each([
  ['env', 'UID', /shells/],
  ['secrets', 'PKGD_SOCKET', /the daemon's/],
  ['env', 'a/b', /letters, digits/],
])('a value in %s cannot be called %s', async (key, name, rule) => {
  await using api = createTestApi()
  const payload = { spec: '/src/weather', [key]: { [name]: 'v' } }
  const response = await api.app.inject({ method: 'POST', url: '/v1/packages', headers, payload })
  expect(response.json()).toMatchObject({
    code: 'USAGE',
    status: 400,
    errors: [{ pointer: `/${key}/${name.replace('/', '~1')}`, message: expect.stringMatching(rule) }],
  })
  expect(api.installs).toEqual([])
})

test('null takes a value of an earlier install away', async () => {
  await using api = createTestApi()
  const payload = { spec: '/src/weather', env: { A: null, B: '' }, secrets: { K: null } }
  const response = await api.app.inject({ method: 'POST', url: '/v1/packages?wait=true', headers, payload })
  expect(response.statusCode).toBe(200)
  expect(api.installs).toMatchObject([{ env: { A: null, B: '' }, secrets: { K: null } }])
})

test('two that ask for the same at once get one job, in whatever order they name things', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  await using api = createTestApi()
  api.before = () => gate
  const install = async (payload: object) =>
    (await api.app.inject({ method: 'POST', url: '/v1/packages', headers, payload })).json<{ job: { id: string } }>().job.id
  const first = await install({ spec: '/src/weather', env: { A: '1', B: '2' }, permissions: { cpuLimit: 1, memoryLimit: '1GB' } })
  const twin = await install({ permissions: { memoryLimit: '1GB', cpuLimit: 1 }, env: { B: '2', A: '1' }, spec: '/src/weather' })
  const other = await install({ spec: '/src/weather', env: { A: '1', B: '3' } })
  expect(twin).toBe(first)
  expect(other).not.toBe(first)
  open()
})

test('wait=true answers the finished job, or the problem it failed with', async () => {
  await using api = createTestApi()
  const install = () => api.app.inject({ method: 'POST', url: '/v1/packages?wait=true', headers, payload: { spec: '/src/weather' } })
  const done = await install()
  expect([done.statusCode, done.json().state]).toEqual([200, 'succeeded'])
  api.fail = new PkgdError('CONSENT_REQUIRED', 'weather asks for more', {
    hint: '--yes',
    issues: [{ pointer: '/sandbox/network', message: 'the internet' }],
  })
  const refused = await install()
  expect([refused.statusCode, refused.headers['content-type']]).toEqual([403, 'application/problem+json'])
  expect(refused.json()).toEqual({
    type: 'urn:pkgd:error:CONSENT_REQUIRED',
    title: 'The package asks for more than it may have without consent',
    status: 403,
    detail: 'weather asks for more',
    code: 'CONSENT_REQUIRED',
    hint: '--yes',
    errors: [{ pointer: '/sandbox/network', message: 'the internet' }],
  })
})

test.each([
  ['no spec', {}, '/spec'],
  ['a relative path', { spec: './weather' }, undefined],
  ['no spec at all', { spec: 'npm:' }, undefined],
  ['an unknown key', { spec: '/x', envs: {} }, '/envs'],
  ['a number as text', { spec: '/x', start: 'true' }, '/start'],
  ['a value that is no text', { spec: '/x', env: { A: 1 } }, '/env/A'],
  ['a name with "="', { spec: '/x', env: { 'A=B': '1' } }, '/env/A=B'],
  [
    'a relative mount',
    { spec: '/x', permissions: { filesystem: { mounts: [{ source: 'd', target: '/d' }] } } },
    '/permissions/filesystem/mounts/0/source',
  ],
  ['a size', { spec: '/x', permissions: { memoryLimit: 'lots' } }, '/permissions/memoryLimit'],
  ['a host without a port', { spec: '/x', permissions: { network: { allow: ['example.com'] } } }, '/permissions/network/allow/0'],
])('%s is refused at once, with its place, and nothing is begun', async (_, payload, pointer) => {
  await using api = createTestApi()
  const response = await api.app.inject({ method: 'POST', url: '/v1/packages', headers, payload })
  expect(response.statusCode).toBe(400)
  const problem = response.json()
  if (pointer !== undefined) expect(problem.errors.map((issue: { pointer: string }) => issue.pointer)).toContain(pointer)
  expect(api.installs).toEqual([])
  expect((await api.app.inject({ url: '/v1/jobs', headers })).json()).toEqual([])
})

test('an unknown key names the nearest; all problems come at once', async () => {
  await using api = createTestApi()
  const response = await api.app.inject({
    method: 'POST',
    url: '/v1/packages',
    headers,
    payload: { spec: '/x', secret: {}, consent: 'yes' },
  })
  expect(response.json().errors).toEqual([
    { pointer: '/consent', message: 'must be boolean, not "yes"', rule: 'type', fix: expect.any(String) },
    { pointer: '/secret', message: '"secret" is not a known key', rule: 'additionalProperties', fix: 'did you mean "secrets"?' },
  ])
})

test('a key of an inner section says where it belongs', async () => {
  await using api = createTestApi()
  const payload = { spec: '/x', permissions: { mounts: [] }, network: true }
  const response = await api.app.inject({ method: 'POST', url: '/v1/packages', headers, payload })
  expect(response.json().errors).toEqual([
    { pointer: '/network', message: '"network" is not a known key', rule: 'additionalProperties', fix: 'it belongs in "permissions"' },
    {
      pointer: '/permissions/mounts',
      message: '"mounts" is not a known key',
      rule: 'additionalProperties',
      fix: 'it belongs in "filesystem"',
    },
  ])
})

test('start, stop, restart and uninstall are jobs; an unknown id is 404 at once', async () => {
  await using api = createTestApi()
  api.packages.set('weather', createPackage('weather', 'stopped'))
  for (const [verb, state] of [
    ['start', 'running'],
    ['restart', 'running'],
    ['stop', 'stopped'],
  ] as const) {
    const response = await api.app.inject({ method: 'POST', url: `/v1/packages/weather/${verb}?wait=true`, headers })
    expect(response.json()).toMatchObject({ kind: verb, subject: 'weather', state: 'succeeded', result: { id: 'weather', state } })
    const unknown = await api.app.inject({ method: 'POST', url: `/v1/packages/waether/${verb}`, headers })
    expect([unknown.statusCode, unknown.json().hint]).toEqual([404, 'did you mean "weather"?'])
  }
  const removed = await api.app.inject({ method: 'DELETE', url: '/v1/packages/weather?purge=true&wait=true', headers })
  expect(removed.json()).toMatchObject({ kind: 'uninstall', result: { id: 'weather', keptData: null } })
  expect((await api.app.inject({ url: '/v1/packages/weather', headers })).statusCode).toBe(404)
})

test('data that an uninstall kept can be purged later; without any, the id is unknown', async () => {
  await using api = createTestApi()
  api.keptData.add('weather')
  const remove = (query: string) => api.app.inject({ method: 'DELETE', url: `/v1/packages/weather?wait=true${query}`, headers })
  expect((await remove('')).json()).toMatchObject({ status: 404, code: 'PACKAGE_NOT_FOUND' })
  expect((await remove('&purge=true')).json()).toMatchObject({
    kind: 'uninstall',
    state: 'succeeded',
    result: { id: 'weather', keptData: null },
  })
  expect((await remove('&purge=true')).json()).toMatchObject({ status: 404, code: 'PACKAGE_NOT_FOUND' })
})

test('logs: an array, or a stream; stats', async () => {
  await using api = createTestApi()
  api.packages.set('weather', createPackage('weather'))
  const logs = await api.app.inject({ url: '/v1/packages/weather/logs?tail=2', headers })
  expect(logs.json().map(({ line }: { line: string }) => line)).toEqual(['line 1', 'line 2'])
  expect((await api.app.inject({ url: '/v1/packages/weather/stats', headers })).json()).toMatchObject({
    id: 'weather',
    memoryBytes: 1,
    pids: 4,
  })
  expect((await api.app.inject({ url: '/v1/packages/weather/logs?tail=-1', headers })).json()).toMatchObject({
    code: 'USAGE',
    errors: [{ pointer: '/tail' }],
  })
  expect((await api.app.inject({ url: '/v1/packages/other/logs?follow=true', headers })).statusCode).toBe(404)
})
