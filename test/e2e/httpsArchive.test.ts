import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Problem } from '../../daemon/api/schemas/common.ts'
import { missing } from '../provision/requirements.ts'
import { tarBytes } from '../unit/registry/store/tarBytes.ts'
import { nodeServer, serverProgram } from './packages.ts'
import { createTestHome, type TestHome } from './testHome.ts'

const reason = await missing('docker')

const archiveOf = (id: string, program: string) =>
  gzipSync(
    tarBytes([
      { path: 'package/package.json', body: JSON.stringify(nodeServer(id)) },
      { path: 'package/server.mjs', body: program },
    ]),
  )
const integrityOf = (bytes: Buffer) => `sha512-${createHash('sha512').update(bytes).digest('base64')}`

const honest = archiveOf('remote', serverProgram())
const other = archiveOf('remote', `${serverProgram()}\n// not the same`)

describe.skipIf(reason)(`an archive on a web server whose certificate an authority of one's own signed [${reason}]`, () => {
  let scratch: string
  let server: Server
  let served = honest
  let url: string
  let home: TestHome
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'pkgd-https-'))
    const [key, cert] = [join(scratch, 'key.pem'), join(scratch, 'cert.pem')]
    const request = [
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
      '/CN=localhost',
    ]
    await execa('openssl', [...request, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert])
    server = createServer({ key: await readFile(key), cert: await readFile(cert) }, (_request, response) => response.end(served))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/remote-1.0.0.tgz`
    home = await createTestHome({ driver: 'docker', env: { NODE_EXTRA_CA_CERTS: cert }, sharedCache: false })
    await home.pkg(['daemon', 'start'])
  })
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]()
    server?.closeAllConnections()
    server?.close()
    await rm(scratch, { recursive: true, force: true })
  })

  it('is refused with an integrity that it does not have, and nothing is changed', async () => {
    const before = await home.snapshot()
    const installed = await home.pkg(['install', url, '--integrity', integrityOf(other)])
    expect(installed.stdout).toBe('')
    expect(installed.stderr).toContain('error INTEGRITY_MISMATCH: ')
    expect(installed.stderr).toContain(url)
    expect(installed.stderr).toContain(integrityOf(other))
    expect(installed.exitCode).toBe(5)

    const posted = await home.rest<Problem>('POST', '/v1/packages?wait=true', { spec: url, integrity: integrityOf(other) })
    expect(posted.body).toMatchObject({ code: 'INTEGRITY_MISMATCH', status: 422 })
    expect(posted.status).toBe(422)

    expect(await home.snapshot()).toEqual(before)
    expect((await home.rest('GET', '/v1/packages')).body).toEqual([])
  })

  it.each([
    ['an integrity that is none', 'sha512-abc'],
    ['one that is no longer safe', `sha1-${createHash('sha1').update(honest).digest('base64')}`],
  ])('is refused with %s before anything is fetched', async (_name, integrity) => {
    const installed = await home.pkg(['install', url, '--integrity', integrity])
    expect(installed.stderr).toContain('error SPEC_INVALID: ')
    expect(installed.exitCode).toBe(5)
  })

  it('is installed with its own, and starts', async () => {
    const installed = await home.pkg(['install', url, '--integrity', integrityOf(honest), '--start'])
    expect(installed).toMatchObject({ stderr: '', exitCode: 0 })
    expect((await home.pkg(['call', 'remote/echo', '{"message":"from afar"}'])).stdout).toBe('from afar\n')
    await home.pkg(['uninstall', 'remote'])
  })

  it('without one is refused, and the one it has is told to be compared', async () => {
    const before = await home.snapshot()
    const installed = await home.pkg(['install', url, '--yes'])
    expect(installed.stderr).toContain('error INTEGRITY_REQUIRED: ')
    expect(installed.stderr).toContain(`pkg install ${url} --integrity ${integrityOf(honest)}`)
    expect(installed).toMatchObject({ stdout: '', exitCode: 5 })
    expect((await home.rest<Problem>('POST', '/v1/packages?wait=true', { spec: url })).body).toMatchObject({
      code: 'INTEGRITY_REQUIRED',
      status: 422,
    })
    expect(await home.snapshot()).toEqual(before)
  })

  it('that is locked is never exchanged for something else', async () => {
    expect((await home.pkg(['install', `${url}#${integrityOf(honest)}`])).exitCode).toBe(0)
    expect((await home.pkg(['info', 'remote', '--json'])).json()).toMatchObject({
      resolution: { kind: 'https', url, integrity: integrityOf(honest) },
    })
    const lockfile = await readFile(join(home.path, 'pkgd.lock'), 'utf8')
    await home.pkg(['uninstall', 'remote'])
    await rm(join(home.path, 'cache'), { recursive: true })
    served = other
    await writeFile(join(home.path, 'pkgd.lock'), lockfile)
    const frozen = await home.pkg(['install', '--frozen'])
    expect(frozen.stderr).toContain('error INTEGRITY_MISMATCH: ')
    expect(frozen.exitCode).toBe(5)
    expect((await home.pkg(['list', '--json'])).json()).toEqual([])
    served = honest
    expect((await home.pkg(['install', '--frozen'])).exitCode).toBe(0)
  })
})
