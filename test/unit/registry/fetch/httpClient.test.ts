import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createHttpClient } from '../../../../registry/fetch/http/httpClient.ts'
import { readBody } from '../../../../registry/fetch/http/readBody.ts'
import { createHttpFixture, type HttpFixture } from './httpFixture.ts'

let one: HttpFixture
let two: HttpFixture
const { signal } = new AbortController()
const client = createHttpClient({ env: {}, retryAfterMs: [0, 0] })

beforeEach(async () => {
  one = await createHttpFixture()
  two = await createHttpFixture()
})
afterEach(async () => {
  await one.close()
  await two.close()
})

const getText = async (url: string, headers: Record<string, string> = {}, mostBytes = 1000) => {
  const request = { url, headers, signal }
  const answer = await client.get(request)
  return { status: answer.status, url: answer.url, text: await readBody(answer.body, mostBytes, request) }
}

test('a redirect to another host is followed without the token, one to the same host with it', async () => {
  one.answer = (request, response) => {
    const to = request.url === '/a' ? '/b' : `${two.url}/c`
    response.writeHead(302, { location: to }).end()
  }
  two.answer = (_request, response) => response.end('there')
  expect(await getText(`${one.url}/a`, { authorization: 'Bearer secret' })).toEqual({ status: 200, url: `${two.url}/c`, text: 'there' })
  expect(one.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret', 'Bearer secret'])
  expect(two.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
})

test('a circle of redirects ends, and so does one to another scheme', async () => {
  one.answer = (_request, response) => response.writeHead(302, { location: '/again' }).end()
  await expect(getText(one.url)).rejects.toMatchObject({
    code: 'REGISTRY_UNREACHABLE',
    message: expect.stringContaining('more than 5 times'),
  })
  one.answer = (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end()
  await expect(getText(one.url)).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE', message: expect.stringContaining('file:') })
})

test('a passing failure is tried again, twice; then it is the answer', async () => {
  one.answer = (_request, response) => response.writeHead(one.requests.length < 3 ? 503 : 200).end('ok')
  expect(await getText(one.url)).toMatchObject({ status: 200, text: 'ok' })
  one.answer = (_request, response) => response.writeHead(500).end('broken')
  expect(await getText(one.url)).toMatchObject({ status: 500 })
  expect(one.requests).toHaveLength(6)
})

test('a connection that breaks is tried again; one that always breaks is an error that names the host', async () => {
  one.answer = (request, response) => (one.requests.length === 1 ? request.socket.destroy() : response.end('ok'))
  expect(await getText(one.url)).toMatchObject({ text: 'ok' })
  one.answer = (request) => request.socket.destroy()
  await expect(getText(one.url)).rejects.toMatchObject({
    code: 'REGISTRY_UNREACHABLE',
    message: `${new URL(one.url).host} cannot be reached: the connection broke`,
  })
})

test('nobody listens', async () => {
  await one.close()
  await expect(getText(one.url)).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE', message: expect.stringContaining('refused') })
  one = await createHttpFixture()
})

test('a cancelled request is cancelled, not retried', async () => {
  const controller = new AbortController()
  one.answer = () => controller.abort()
  await expect(client.get({ url: one.url, signal: controller.signal })).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
  expect(one.requests).toHaveLength(1)
})

test('packed answers are unpacked, and a bomb among them ends at the limit', async () => {
  one.answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(900)))
  expect((await getText(one.url)).text).toHaveLength(900)
  one.answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(5_000_000)))
  await expect(getText(one.url)).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE', message: expect.stringContaining('1000 bytes') })
  one.answer = (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(900)).subarray(0, 20))
  await expect(getText(one.url)).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE' })
})

test('the proxy of the environment or of the configuration is used, except for hosts that need none', async () => {
  const asked: string[] = []
  const proxy: Server = createServer((socket) => {
    socket.once('data', (data) => {
      asked.push(data.toString('latin1').split('\r\n', 1)[0] ?? '')
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nproxy')
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const at = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  one.answer = (_request, response) => response.end('direct')
  const ask = async (env: Record<string, string>, network = {}) => {
    const request = { url: 'http://registry.test/a', signal }
    const answer = await createHttpClient({ env, network, retryAfterMs: [] }).get(request)
    return readBody(answer.body, 100, request)
  }
  try {
    expect(await ask({ HTTP_PROXY: at })).toBe('proxy')
    expect(await ask({}, { proxy: at })).toBe('proxy')
    expect(asked).toEqual(['GET http://registry.test/a HTTP/1.1', 'GET http://registry.test/a HTTP/1.1'])
    const near = createHttpClient({ env: { HTTP_PROXY: at, NO_PROXY: '127.0.0.1' }, retryAfterMs: [] })
    const request = { url: one.url, signal }
    expect(await readBody((await near.get(request)).body, 100, request)).toBe('direct')
  } finally {
    await new Promise((resolve) => proxy.close(resolve))
  }
})

test('a CA bundle that cannot be read is said', async () => {
  const broken = createHttpClient({ env: {}, network: { caFile: '/nowhere/ca.pem' }, retryAfterMs: [] })
  await expect(broken.get({ url: 'https://127.0.0.1:1/', signal })).rejects.toMatchObject({
    code: 'REGISTRY_UNREACHABLE',
    message: expect.stringContaining('/nowhere/ca.pem'),
  })
})
