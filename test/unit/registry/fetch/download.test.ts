import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../../daemon/core/ports.ts'
import { createDownloads } from '../../../../registry/fetch/http/download.ts'
import { createHttpClient } from '../../../../registry/fetch/http/httpClient.ts'
import { createHttpFixture, type HttpFixture } from './httpFixture.ts'

let fixture: HttpFixture
let directory: string
const http = createHttpClient({ env: {}, retryAfterMs: [] })
const context = { signal: new AbortController().signal, progress: () => undefined }

beforeEach(async () => {
  fixture = await createHttpFixture()
  directory = mkdtempSync(join(tmpdir(), 'pkgd-download-'))
})
afterEach(async () => {
  await fixture.close()
  rmSync(directory, { recursive: true })
})

const content = Buffer.from('content '.repeat(1000))
const sri = (algorithm: string, bytes: Buffer | string) => `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`
const get = (integrity: string | null = null, mostBytes = 1_000_000) =>
  createDownloads({ directory, mostBytes, clock: systemClock }).get(
    http,
    { url: `${fixture.url}/a.tgz`, integrity, name: 'a.tgz' },
    context,
  )

test('what was downloaded once comes from the cache, whichever hash names it', async () => {
  fixture.answer = (_request, response) => response.end(content)
  for (const algorithm of ['sha256', 'sha512']) {
    const { file, integrity } = await get(sri(algorithm, content))
    expect(integrity).toBe(sri('sha512', content))
    expect(readFileSync(file).equals(content)).toBe(true)
  }
  const first = await get()
  await fixture.close()
  expect(await get(first.integrity)).toEqual(first)
  expect(await get(sri('sha256', content))).toMatchObject({ integrity: first.integrity })
  fixture = await createHttpFixture()
})

test('a damaged file in the cache is fetched again', async () => {
  fixture.answer = (_request, response) => response.end(content)
  const { file, integrity } = await get()
  writeFileSync(file, 'damaged')
  expect(readFileSync((await get(integrity)).file).equals(content)).toBe(true)
  expect(fixture.requests).toHaveLength(2)
})

test.each<[string, HttpFixture['answer'], Parameters<typeof get>, string]>([
  ['wrong integrity', (_request, response) => response.end(content), [sri('sha512', 'other')], 'INTEGRITY_MISMATCH'],
  ['nothing there', (_request, response) => response.writeHead(404).end('no'), [], 'SOURCE_NOT_FOUND'],
  ['a broken server', (_request, response) => response.writeHead(500).end('no'), [], 'REGISTRY_UNREACHABLE'],
  ['no access', (_request, response) => response.writeHead(403).end('no'), [], 'REGISTRY_UNREACHABLE'],
  [
    'cut off, its length announced',
    (request, response) => {
      response.writeHead(200, { 'content-length': content.length })
      response.write(content.subarray(0, 100), () => request.socket.destroy())
    },
    [],
    'REGISTRY_UNREACHABLE',
  ],
  [
    'cut off, in chunks',
    (request, response) => {
      response.writeHead(200)
      response.write(content.subarray(0, 100), () => request.socket.destroy())
    },
    [],
    'REGISTRY_UNREACHABLE',
  ],
  [
    'too large, announced',
    (_request, response) => response.writeHead(200, { 'content-length': content.length }).end(content),
    [null, 100],
    'ARCHIVE_TOO_LARGE',
  ],
  ['too large, not announced', (_request, response) => response.write(content) && response.end(content), [null, 100], 'ARCHIVE_TOO_LARGE'],
])('%s: %s', async (_, answer, args, code) => {
  fixture.answer = answer
  await expect(get(...args)).rejects.toMatchObject({ code })
  expect(readdirSync(directory)).toEqual([])
})

test('a server that goes silent is left at the signal, and nothing stays behind', async () => {
  const controller = new AbortController()
  fixture.answer = (_request, response) => {
    response.writeHead(200, { 'content-length': content.length })
    response.write(content.subarray(0, 100), () => controller.abort())
  }
  const attempt = createDownloads({ directory, mostBytes: 1_000_000, clock: systemClock }).get(
    http,
    { url: fixture.url, integrity: null, name: 'a.tgz' },
    { ...context, signal: controller.signal },
  )
  await expect(attempt).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
  expect(readdirSync(directory)).toEqual([])
})
