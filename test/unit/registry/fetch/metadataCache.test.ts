import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createHttpClient } from '../../../../registry/fetch/http/httpClient.ts'
import { createMetadataCache, type MetadataRequest } from '../../../../registry/fetch/http/metadataCache.ts'
import { createHttpFixture, type HttpFixture } from './httpFixture.ts'

let fixture: HttpFixture
let directory: string
let now = 0
let said: string[] = []
const http = createHttpClient({ env: {}, retryAfterMs: [] })

beforeEach(async () => {
  fixture = await createHttpFixture()
  directory = mkdtempSync(join(tmpdir(), 'pkgd-metadata-'))
  now = 1_000_000
  said = []
})
afterEach(async () => {
  await fixture.close()
  rmSync(directory, { recursive: true })
})

const get = (fields: Partial<MetadataRequest> = {}) =>
  createMetadataCache({ directory, clock: { now: () => now, after: () => () => undefined } }).get(http, {
    url: `${fixture.url}/a`,
    accept: 'application/json',
    signal: new AbortController().signal,
    onStale: (message) => said.push(message),
    ...fields,
  })

test('a fresh answer is not asked for again, an old one is asked for with its validator', async () => {
  fixture.answer = (request, response) => {
    if (request.headers['if-none-match'] === '"1"') response.writeHead(304, { 'cache-control': 'max-age=60' }).end()
    else response.writeHead(200, { etag: '"1"', 'cache-control': 'public, max-age=60' }).end('one')
  }
  expect(await get()).toMatchObject({ text: 'one' })
  now += 59_000
  expect(await get()).toMatchObject({ text: 'one' })
  expect(fixture.requests).toHaveLength(1)
  now += 2000
  expect(await get()).toMatchObject({ text: 'one' })
  expect(fixture.requests).toHaveLength(2)
  now += 59_000
  expect(await get()).toMatchObject({ text: 'one' })
  expect(fixture.requests).toHaveLength(2)
})

test('out of reach: what was answered before is used, and that is said', async () => {
  fixture.answer = (_request, response) => response.end('one')
  await get()
  fixture.answer = (_request, response) => response.writeHead(500).end()
  expect(await get()).toMatchObject({ text: 'one' })
  expect(said).toEqual([expect.stringMatching(/answered 500; using what it answered before/)])
  await expect(get({ url: `${fixture.url}/b` })).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE' })
})

test('what is gone is gone, whatever was answered before', async () => {
  fixture.answer = (_request, response) => response.end('one')
  await get()
  fixture.answer = (_request, response) => response.writeHead(404).end()
  expect(await get()).toBeUndefined()
})

test('an answer for one identity is none for another, and no token is on the disk', async () => {
  fixture.answer = (request, response) =>
    response.writeHead(200, { 'cache-control': 'max-age=60' }).end(request.headers.authorization ? 'private' : 'public')
  expect(await get({ authorization: 'Bearer secret' })).toMatchObject({ text: 'private' })
  expect(await get()).toMatchObject({ text: 'public' })
  const files = readdirSync(directory).map((name) => join(directory, name))
  expect(files).toHaveLength(2)
  for (const file of files) {
    expect(readFileSync(file, 'utf8')).not.toContain('secret')
    expect(statSync(file).mode & 0o077).toBe(0)
  }
})

test('a damaged cache is an empty one', async () => {
  fixture.answer = (_request, response) => response.writeHead(200, { 'cache-control': 'max-age=60' }).end('one')
  await get()
  const [name = ''] = readdirSync(directory)
  for (const garbage of ['', '{"half', '{}']) {
    writeFileSync(join(directory, name), garbage)
    expect(await get()).toMatchObject({ text: 'one' })
  }
})
