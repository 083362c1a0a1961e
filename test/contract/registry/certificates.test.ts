import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHttpClient } from '../../../registry/fetch/http/httpClient.ts'
import { readBody } from '../../../registry/fetch/http/readBody.ts'

const [tool = ''] = ['openssl']
let scratch: string
let server: Server
let url: string
const { signal } = new AbortController()

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'pkgd-tls-'))
  const at = (name: string) => join(scratch, name)
  const openssl = (...args: string[]) => execFileSync(tool, args, { stdio: 'pipe' })
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '1',
    '-subj',
    '/CN=own authority',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  )
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=127.0.0.1',
    '-keyout',
    at('key.pem'),
    '-out',
    at('csr.pem'),
  )
  writeFileSync(at('san'), 'subjectAltName=IP:127.0.0.1')
  openssl(
    'x509',
    '-req',
    '-in',
    at('csr.pem'),
    '-CA',
    at('ca.pem'),
    '-CAkey',
    at('ca.key'),
    '-CAcreateserial',
    '-days',
    '1',
    '-extfile',
    at('san'),
    '-out',
    at('cert.pem'),
  )
  server = createServer({ key: readFileSync(at('key.pem')), cert: readFileSync(at('cert.pem')) }, (_request, response) =>
    response.end('safe'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  rmSync(scratch, { recursive: true })
})

const get = async (...[env, network]: [env: Record<string, string>, network?: Parameters<typeof createHttpClient>[0]['network']]) => {
  const request = { url, signal }
  const answer = await createHttpClient({ env, retryAfterMs: [], ...(network && { network }) }).get(request)
  return readBody(answer.body, 100, request)
}

test('an authority that nobody told us of is not trusted, and the error says why', async () => {
  await expect(get({})).rejects.toMatchObject({
    code: 'REGISTRY_UNREACHABLE',
    message: expect.stringMatching(/cannot be reached: .*certificate/i),
  })
})

test('the bundle of npm or pip, a certificate of their configuration and SSL_CERT_FILE are', async () => {
  const caFile = join(scratch, 'ca.pem')
  expect(await get({}, { caFile })).toBe('safe')
  expect(await get({ SSL_CERT_FILE: caFile })).toBe('safe')
  expect(await get({}, { ca: [readFileSync(caFile, 'utf8')] })).toBe('safe')
})

test("strict-ssl=false and trusted-host are the user's own choice", async () => {
  expect(await get({}, { trustAnyCertificate: true })).toBe('safe')
})
