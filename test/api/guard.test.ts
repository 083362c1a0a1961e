import { expect, test } from 'vitest'
import { authorization, createTestApi, token } from './testApi.ts'

test.each([
  ['localhost', undefined, 200],
  ['127.0.0.1:7433', undefined, 200],
  ['[::1]:7433', undefined, 200],
  ['LOCALHOST:80', 'http://localhost:80', 200],
  ['evil.example:7433', undefined, 403],
  ['localhost.evil.example', undefined, 403],
  ['127.0.0.1.evil.example:7433', undefined, 403],
  ['10.0.0.1', undefined, 403],
  ['user@localhost', undefined, 403],
  ['localhost:7433', 'http://evil.example', 403],
  ['localhost:7433', 'http://localhost:3000', 403],
  ['localhost:7433', 'https://localhost:7433', 403],
  ['localhost:7433', 'null', 403],
])('Host %s, Origin %s: %i on a public route and a private one', async (host, origin, status) => {
  await using api = createTestApi()
  const headers = { host, ...(origin === undefined ? {} : { origin }) }
  for (const url of ['/health', '/v1/packages']) {
    const response = await api.app.inject({ url, headers: { ...headers, ...authorization } })
    expect([url, response.statusCode]).toEqual([url, status])
    if (status === 403) expect(response.json()).toMatchObject({ code: 'HOST_FORBIDDEN', status: 403 })
  }
})

test.each([
  [undefined, 401],
  ['', 401],
  ['Bearer', 401],
  [`Basic ${token}`, 401],
  [`Bearer ${token}x`, 401],
  [`Bearer ${token.slice(1)}`, 401],
  [`Bearer ${token}`, 200],
  [`bearer  ${token}`, 200],
])('authorization %s: %i', async (given, status) => {
  await using api = createTestApi()
  const response = await api.app.inject({ url: '/v1/packages', headers: given === undefined ? {} : { authorization: given } })
  expect(response.statusCode).toBe(status)
  if (status === 401) {
    expect(response.headers['www-authenticate']).toMatch(/^Bearer/)
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(response.json()).toMatchObject({ type: 'urn:pkgd:error:UNAUTHORIZED', code: 'UNAUTHORIZED', status: 401 })
    expect(response.body).not.toContain(token)
  }
})

test('only the public routes answer without a token; unknown routes are not told apart by it', async () => {
  await using api = createTestApi()
  for (const url of ['/health', '/openapi.json', '/docs', '/schemas/manifest.json', '/schemas/config.json']) {
    expect([url, (await api.app.inject({ url })).statusCode]).toEqual([url, 200])
  }
  for (const url of ['/', '/nope', '/v1/info', '/v1/events', '/v1/jobs', '/v1/doctor', '/schemas/nope.json']) {
    expect([url, (await api.app.inject({ url })).statusCode]).toEqual([url, 401])
  }
  const unknown = await api.app.inject({ url: '/v1/nope?x=1', headers: authorization })
  expect(unknown.json()).toMatchObject({ code: 'ROUTE_NOT_FOUND', status: 404, detail: 'There is no GET /v1/nope' })
})
