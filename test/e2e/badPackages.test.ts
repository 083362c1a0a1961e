import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Problem } from '../../daemon/api/schemas/common.ts'
import type { JobAccepted, JobView } from '../../daemon/api/schemas/jobs.ts'
import { missing } from '../provision/requirements.ts'
import { type RawEntry, tarBytes } from '../unit/registry/store/tarBytes.ts'
import { createPackageFolder, nodeServer, type PackageFolder, serverProgram } from './packages.ts'
import { createTestHome, type TestHome } from './testHome.ts'

const reason = await missing('docker', 'npm-registry')

interface Case {
  readonly name: string
  /** Makes what is installed; answers the arguments of `pkg install`. */
  readonly spec: (folder: PackageFolder) => Promise<readonly string[]> | readonly string[]
  readonly code: string
  readonly exit: number
  readonly says: RegExp
}

const archive = (name: string, entries: readonly RawEntry[]) => async (folder: PackageFolder) => {
  const file = join(folder.path, `${name}.tgz`)
  await writeFile(file, gzipSync(tarBytes([{ path: 'package/package.json', body: JSON.stringify(nodeServer(name)) }, ...entries])))
  return [file]
}

const cases: readonly Case[] = [
  { name: 'no such folder', spec: () => ['./nowhere'], code: 'SOURCE_NOT_FOUND', exit: 4, says: /nowhere/ },
  {
    name: 'no such npm package',
    spec: () => ['npm:@modelcontextprotocol/server-that-is-not'],
    code: 'PACKAGE_NOT_FOUND',
    exit: 4,
    says: /server-that-is-not/,
  },
  {
    name: 'no such npm version',
    spec: () => ['npm:@modelcontextprotocol/server-everything@99.0.0'],
    code: 'VERSION_NOT_FOUND',
    exit: 4,
    says: /99\.0\.0/,
  },
  { name: 'no such id', spec: () => ['wether-tool@^1'], code: 'PACKAGE_NOT_FOUND', exit: 4, says: /wether-tool/ },
  {
    name: 'a manifest that is not JSON',
    async spec(folder) {
      await mkdir(join(folder.path, 'not-json'))
      await writeFile(join(folder.path, 'not-json', 'package.json'), '{ "id": ')
      return [join(folder.path, 'not-json')]
    },
    code: 'MANIFEST_INVALID',
    exit: 5,
    says: /JSON/,
  },
  {
    name: 'every violation of the schema at once',
    spec: async (folder) => [
      await folder.write({
        id: 'all-wrong',
        name: 7,
        version: '1.0.0',
        type: 'mcp-server',
        mcp: { comand: 'node' },
        sandbox: { memory_limit: 'much', network: 'yes' },
      }),
    ],
    code: 'MANIFEST_INVALID',
    exit: 5,
    says: /\/name[\s\S]*\/mcp\/comand[\s\S]*command[\s\S]*\/sandbox\/memory_limit|\/mcp\/comand[\s\S]*\/sandbox/,
  },
  {
    name: 'a version that is not semver',
    spec: async (folder) => [await folder.write({ ...nodeServer('no-semver'), version: '1.0' })],
    code: 'MANIFEST_INVALID',
    exit: 5,
    says: /\/version/,
  },
  {
    name: 'a range that cannot be solved',
    spec: async (folder) => [
      await folder.write(nodeServer('wants', { dependencies: { extensions: { base: '^9' } } }), { 'server.mjs': serverProgram() }),
    ],
    code: 'DEPENDENCY_UNSOLVABLE',
    exit: 5,
    says: /wants[\s\S]*base[\s\S]*\^9/,
  },
  {
    name: 'a cycle',
    spec: (folder) => [join(folder.path, 'registry', 'ring-a')],
    code: 'DEPENDENCY_CYCLE',
    exit: 5,
    says: /ring-a -> ring-b -> ring-a/,
  },
  {
    name: 'an archive with ..',
    spec: archive('dotdot', [{ path: 'package/../../evil', body: 'x' }]),
    code: 'ARCHIVE_UNSAFE',
    exit: 5,
    says: /evil/,
  },
  {
    name: 'an archive with an absolute path',
    spec: archive('absolute', [{ path: '/tmp/evil', body: 'x' }]),
    code: 'ARCHIVE_UNSAFE',
    exit: 5,
    says: /evil/,
  },
  {
    name: 'an archive with a link out',
    spec: archive('linkout', [{ path: 'package/evil', type: '2', link: '../../../etc/passwd' }]),
    code: 'ARCHIVE_UNSAFE',
    exit: 5,
    says: /evil/,
  },
  {
    name: 'an archive with a device',
    spec: archive('device', [{ path: 'package/evil', type: '3' }]),
    code: 'ARCHIVE_UNSAFE',
    exit: 5,
    says: /evil/,
  },
  {
    name: 'an archive with a duplicate',
    spec: archive('duplicate', [
      { path: 'package/evil', body: 'x' },
      { path: 'package/evil', body: 'y' },
    ]),
    code: 'ARCHIVE_UNSAFE',
    exit: 5,
    says: /evil/,
  },
  { name: 'an archive of 10 GB of zeros', spec: (folder) => bomb(folder), code: 'ARCHIVE_TOO_LARGE', exit: 5, says: /MB|GB|bytes/ },
  {
    name: 'an archive of a million files',
    spec: archive(
      'million',
      Array.from({ length: 1_000_000 }, (_, index) => ({ path: `package/${index}` })),
    ),
    code: 'ARCHIVE_TOO_LARGE',
    exit: 5,
    says: /entries|files/,
  },
  {
    name: 'a native module that was not built',
    spec: async (folder) => [
      await folder.write(nodeServer('native', { dependencies: { packages: ['cpu-features@0.0.10'] } }), { 'server.mjs': serverProgram() }),
    ],
    code: 'DEPENDENCY_NOT_BUILT',
    exit: 1,
    says: /cpu-features/,
  },
  {
    name: 'a limit above the ceiling',
    spec: async (folder) => [await folder.write(nodeServer('greedy', { sandbox: { memory_limit: '4096GB' } }))],
    code: 'LIMIT_ABOVE_CEILING',
    exit: 6,
    says: /4096 ?GB|4 TB/,
  },
  {
    name: 'an allow-list that is not enforced yet',
    spec: async (folder) => [await folder.write(nodeServer('listed', { sandbox: { network: { allow: ['example.com:443'] } } })), '--yes'],
    code: 'NETWORK_UNSUPPORTED',
    exit: 6,
    says: /allow/,
  },
  {
    name: 'consent that nobody can give',
    spec: async (folder) => [await folder.write(nodeServer('asking', { sandbox: { network: true } }))],
    code: 'CONSENT_REQUIRED',
    exit: 6,
    says: /internet|network/,
  },
  {
    name: 'a dependency that is a URL',
    spec: async (folder) => [await folder.write(nodeServer('by-url', { dependencies: { packages: ['x@git+https://example.com/x.git'] } }))],
    code: 'DEPENDENCY_SOURCE',
    exit: 6,
    says: /example\.com/,
  },
  {
    name: 'a key that stands twice in the manifest',
    async spec(folder) {
      await mkdir(join(folder.path, 'two-ids'))
      await writeFile(join(folder.path, 'two-ids', 'package.json'), JSON.stringify(nodeServer('two-ids')).replace('{', '{"id":"another",'))
      return [join(folder.path, 'two-ids')]
    },
    code: 'MANIFEST_INVALID',
    exit: 5,
    says: /\/id: the key "id" is there twice/,
  },
  { name: 'neither a folder nor an archive', spec: () => ['/etc/passwd'], code: 'SOURCE_NOT_FOUND', exit: 4, says: /neither a folder nor/ },
  {
    name: 'an archive with two folders at its top',
    async spec(folder) {
      const file = join(folder.path, 'two-tops.tgz')
      const manifest = JSON.stringify(nodeServer('two-tops'))
      await writeFile(
        file,
        gzipSync(
          tarBytes([
            { path: 'package/package.json', body: manifest },
            { path: 'docs/x', body: '1' },
          ]),
        ),
      )
      return [file]
    },
    code: 'MANIFEST_MISSING',
    exit: 5,
    says: /docs\/, package\//,
  },
  { name: 'a spec of no known form', spec: () => ['ftp://example.com/x'], code: 'SPEC_INVALID', exit: 5, says: /ftp/ },
]

describe.skipIf(reason)(`packages that cannot be installed [${reason}]`, () => {
  let home: TestHome
  let folder: PackageFolder
  beforeAll(async () => {
    folder = await createPackageFolder()
    for (const [id, needs] of [
      ['base', {}],
      ['ring-a', { 'ring-b': '^1' }],
      ['ring-b', { 'ring-a': '^1' }],
    ] as const) {
      await folder.write({ ...nodeServer(`registry/${id}`), id: `registry/${id}` })
      await writeFile(
        join(folder.path, 'registry', id, 'package.json'),
        JSON.stringify(nodeServer(id, { dependencies: { extensions: needs } })),
      )
    }
    home = await createTestHome({ driver: 'docker', config: `registries:\n  - folder: ${join(folder.path, 'registry')}\n` })
    await home.pkg(['daemon', 'start'])
  })
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  it.each(cases)('$name', async ({ spec, code, exit, says }) => {
    const args = await spec(folder)
    const before = await home.snapshot()

    const installed = await home.pkg(['install', ...args], { cwd: folder.path })
    expect(installed.stdout).toBe('')
    expect(installed.stderr).toContain(`error ${code}: `)
    expect(installed.stderr).toMatch(says)
    expect(installed.exitCode).toBe(exit)

    const path = args[0]?.startsWith('./') ? join(folder.path, args[0]) : args[0]
    const posted = await home.rest<JobAccepted & Problem>('POST', '/v1/packages', { spec: path, consent: args.includes('--yes') })
    const outcome = posted.status === 202 ? await finished(home, posted.body.job.id) : posted.body
    expect(outcome.code).toBe(code)

    expect(await home.snapshot()).toEqual(before)
    expect((await home.rest('GET', '/v1/packages')).body).toEqual([])
    expect(await home.containers()).toEqual([])
  })
})

/** The error of a job, once it has ended. */
async function finished(home: TestHome, id: string): Promise<{ code: string | undefined }> {
  const { createClient } = await import('../../cli/client.ts')
  const { locateHome } = await import('../../daemon/core/home.ts')
  const client = createClient({ home: locateHome({ PKGD_HOME: home.path }), url: undefined, token: undefined, autostart: null })
  let last: JobView | undefined
  for await (const job of client.stream<JobView>(`/v1/jobs/${id}/events`)) last = job
  return { code: last?.error?.code }
}

/** 10 GB of zeros compress to 10 MB; written member by member, since gzip members may follow one another. */
async function bomb(folder: PackageFolder): Promise<readonly string[]> {
  const file = join(folder.path, 'bomb.tgz')
  const size = 10 * 1024 ** 3
  const head = tarBytes(
    [
      { path: 'package/package.json', body: JSON.stringify(nodeServer('bomb')) },
      { path: 'package/zeros', size },
    ],
    { end: false },
  )
  const zeros = gzipSync(Buffer.alloc(64 * 1024 ** 2))
  await writeFile(file, Buffer.concat([gzipSync(head), ...Array.from({ length: size / (64 * 1024 ** 2) }, () => zeros)]))
  return [file]
}
