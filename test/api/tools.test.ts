import { expect, test } from 'vitest'
import { createPackage, createTestApi, authorization as headers } from './testApi.ts'

const post = (api: ReturnType<typeof createTestApi>, url: string, payload: object | string, more: Record<string, string> = {}) =>
  api.app.inject({ method: 'POST', url, headers: { ...headers, ...more }, payload })

test('tools of every package, by package and name, keys of the protocol unchanged', async () => {
  await using api = createTestApi()
  for (const id of ['z', 'y']) api.packages.set(id, createPackage(id))
  const all = (await api.app.inject({ url: '/v1/tools', headers })).json()
  expect(all.map((tool: { package: string; name: string }) => `${tool.package}/${tool.name}`)).toEqual(['y/a', 'y/b', 'z/a', 'z/b'])
  expect(all[0]).toEqual({ package: 'y', name: 'a', inputSchema: { type: 'object' }, 'x-extra': 1 })
  expect((await api.app.inject({ url: '/v1/tools?package=z&limit=1', headers })).json()).toHaveLength(1)
})

test("a call answers MCP's own result, isError included, with 200", async () => {
  await using api = createTestApi()
  const call = { package: 'x', tool: 'wrong', arguments: { n: 1, nested: { text: 'ü' } } }
  const response = await post(api, '/v1/tools/call', call)
  expect(response.statusCode).toBe(200)
  expect(response.json()).toEqual({ content: [{ type: 'text', text: '{"n":1,"nested":{"text":"ü"}}' }], isError: true })
})

test('a crash is said; what is unforeseen is hidden from the caller and logged whole', async () => {
  await using api = createTestApi()
  const crash = await post(api, '/v1/tools/call', { package: 'x', tool: 'crash' })
  expect([crash.statusCode, crash.json().detail]).toEqual([502, 'x was killed by its memory limit'])
  const bug = await post(api, '/v1/tools/call', { package: 'x', tool: 'bug' })
  expect(bug.statusCode).toBe(500)
  expect(bug.body).not.toContain('secret internal')
  expect(bug.json()).toMatchObject({ code: 'INTERNAL', detail: 'Something went wrong inside pkgd' })
  expect(api.log.lines.join()).toContain('a secret internal detail')
})

test.each([
  ['arguments that are no object', { package: 'x', tool: 'a', arguments: [1] }, '/arguments'],
  ['no tool', { package: 'x' }, '/tool'],
  ['a timeout of 0', { package: 'x', tool: 'a', timeoutMs: 0 }, '/timeoutMs'],
  ['a text as the timeout', { package: 'x', tool: 'a', timeoutMs: '5' }, '/timeoutMs'],
])('%s is USAGE with its place', async (_, payload, pointer) => {
  await using api = createTestApi()
  const response = await post(api, '/v1/tools/call', payload)
  expect(response.json()).toMatchObject({ code: 'USAGE', status: 400, errors: [{ pointer }] })
})

test.each([
  ['no JSON', '{"package":', { 'content-type': 'application/json' }, 400, 'USAGE'],
  ['nothing', '', { 'content-type': 'application/json' }, 400, 'USAGE'],
  ['another type', 'x=1', { 'content-type': 'application/x-www-form-urlencoded' }, 400, 'USAGE'],
  ['a prototype', '{"__proto__":{"x":1}}', { 'content-type': 'application/json' }, 400, 'USAGE'],
  ['too much', null, { 'content-type': 'application/json' }, 413, 'BODY_TOO_LARGE'],
])('a body of %s: %s %s', async (_, payload, more, status, code) => {
  await using api = createTestApi()
  const response = await post(api, '/v1/tools/call', payload ?? JSON.stringify({ package: 'y'.repeat(70_000) }), more)
  expect([response.statusCode, response.json().code, response.headers['content-type']]).toEqual([status, code, 'application/problem+json'])
})

test('resources, prompts and completions', async () => {
  await using api = createTestApi()
  expect((await post(api, '/v1/resources/read', { package: 'x', uri: 'a:b' })).json()).toEqual({ contents: [{ uri: 'a:b', text: 'text' }] })
  expect((await post(api, '/v1/prompts/get', { package: 'x', name: 'p', arguments: { a: 'b' } })).json()).toEqual({ messages: [] })
  const complete = { package: 'x', ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }
  expect((await post(api, '/v1/complete', complete)).json()).toEqual({ completion: { values: ['x'] } })
  for (const url of ['/v1/resources', '/v1/resources/templates', '/v1/prompts']) {
    expect((await api.app.inject({ url, headers })).json()).toEqual([])
  }
})

test('validate, search, doctor', async () => {
  await using api = createTestApi()
  const invalid = (await post(api, '/v1/validate', { manifest: { id: 'UPPER', nam: 1 } })).json()
  expect(invalid).toMatchObject({ valid: false, id: null, version: null, origin: null })
  expect(invalid.issues.map(({ pointer }: { pointer: string }) => pointer)).toEqual(expect.arrayContaining(['/id', '/nam', '/version']))
  const manifest = { id: 'ok', name: 'Ok', version: '1.0.0', type: 'mcp-server', mcp: { command: 'node' } }
  expect((await post(api, '/v1/validate', { manifest })).json()).toEqual({
    valid: true,
    id: 'ok',
    version: '1.0.0',
    origin: 'file',
    issues: [],
  })
  expect((await api.app.inject({ url: '/v1/search?q=w&limit=2', headers })).json().map(({ id }: { id: string }) => id)).toEqual([
    'w0',
    'w1',
  ])
  expect((await api.app.inject({ url: '/v1/doctor', headers })).json()).toEqual({ status: 'ok', checks: [] })
  api.packages.set('weather', createPackage('weather'))
  expect((await post(api, '/v1/doctor/verify?wait=true', {})).json().result).toEqual({
    packages: [{ id: 'weather', version: '1.2.3', tree: 'sha512-1', differences: [{ path: 'server.js', problem: 'changed' }] }],
  })
  expect((await post(api, '/v1/doctor/repair?wait=true', {})).json().result).toEqual({ repaired: ['1 sandbox'] })
})

test.each([
  ['/v1/packages/weather/start'],
  ['/v1/packages/weather/stop'],
  ['/v1/packages/weather/restart'],
  ['/v1/doctor/verify'],
  ['/v1/doctor/repair'],
  ['/v1/jobs/x/cancel'],
])('%s takes no body, and says so of one', async (url) => {
  await using api = createTestApi()
  api.packages.set('weather', createPackage('weather'))
  const refused = await post(api, url, { wait: true })
  expect([refused.statusCode, refused.json()]).toMatchObject([400, { code: 'USAGE', errors: [{ pointer: '/wait' }] }])
  for (const payload of [{}, undefined]) {
    const taken = await api.app.inject({ method: 'POST', url, headers, ...(payload && { payload }) })
    expect(taken.statusCode).toBe(url.includes('jobs') ? 404 : 202)
  }
})

test('a search is paged, best first, and says which registries are missing', async () => {
  const hit = (id: string) => ({ id, name: '', version: '1.0.0', type: 'mcp-server', description: '', spec: id, registry: 'r' })
  const failures = [{ registry: 'https://npm.example', message: 'no answer – “dead”' }]
  await using api = createTestApi({ search: async () => ({ results: ['z', 'b', 'y', 'a', 'c'].map(hit), failures }) })
  const ids: string[] = []
  let url: string | undefined = '/v1/search?q=w&limit=2'
  while (url !== undefined) {
    const page: Awaited<ReturnType<typeof api.app.inject>> = await api.app.inject({ url, headers })
    ids.push(...page.json<{ id: string }[]>().map(({ id }) => id))
    expect(JSON.parse(String(page.headers['x-pkgd-warnings']))).toEqual(['https://npm.example could not be searched: no answer – “dead”'])
    url = /^<(.+)>; rel="next"$/.exec(String(page.headers.link))?.[1]
  }
  expect(ids).toEqual(['z', 'b', 'y', 'a', 'c'])
  expect((await api.app.inject({ url: '/v1/search?cursor=eA', headers })).json()).toMatchObject({ code: 'USAGE' })
})
