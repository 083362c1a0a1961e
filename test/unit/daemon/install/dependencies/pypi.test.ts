import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Logger } from '../../../../../daemon/core/ports.ts'
import { discoverFileHosts } from '../../../../../daemon/install/dependencies/pypi/discoverFileHosts.ts'
import { needsDiscovery, projectOf, toIndexReach } from '../../../../../daemon/install/dependencies/pypi/indexReach.ts'
import { parseDistributionName } from '../../../../../daemon/install/dependencies/pypi/parseDistributionName.ts'
import { parsePipFile, toPipConfig, toPipFile } from '../../../../../daemon/install/dependencies/pypi/pipConfig.ts'
import { toLockedRequirements, toPipScript } from '../../../../../daemon/install/dependencies/pypi/pipScript.ts'
import { satisfiesIntegrity } from '../../../../../daemon/install/dependencies/pypi/satisfiesIntegrity.ts'
import { toPipError } from '../../../../../daemon/install/dependencies/pypi/toPipError.ts'
import { toRunPy } from '../../../../../daemon/install/dependencies/pypi/toRunPy.ts'
import { createWheelhouse, listArchives, toSolutionKey } from '../../../../../daemon/install/dependencies/pypi/wheelhouse.ts'

const plain = toPipConfig([], {})

describe("pip's configuration", () => {
  test('has sections, continued lines and comments', () => {
    const text =
      '# mine\n[global]\nindex_url = https://a.example/simple\nextra-index-url =\n    https://b.example/simple\n    https://c.example/simple\n[list]\nformat = json\n[install]\ntrusted-host: a.example\n'
    expect(parsePipFile(text)).toEqual({
      'index-url': 'https://a.example/simple',
      'extra-index-url': 'https://b.example/simple https://c.example/simple',
      'trusted-host': 'a.example',
    })
  })

  test('is taken from the files, the later before the earlier, and from the environment before both', () => {
    const files = [{ 'index-url': 'https://a.example/simple', cert: '/a.pem' }, { 'index-url': 'https://b.example/simple' }]
    expect(
      toPipConfig(files, {
        PIP_CERT: '/c.pem',
        PIP_EXTRA_INDEX_URL: 'https://x.example https://y.example',
        HTTPS_PROXY: 'http://proxy:3128',
      }),
    ).toMatchObject({
      indexUrl: 'https://b.example/simple',
      extraIndexUrls: ['https://x.example', 'https://y.example'],
      cert: '/c.pem',
      proxy: 'http://proxy:3128',
    })
  })

  test('is read back as it was written for the build sandbox', () => {
    const config = { ...plain, extraIndexUrls: ['https://u:p@b.example/simple'], trustedHosts: ['b.example'], proxy: 'http://proxy:3128' }
    expect(toPipConfig([parsePipFile(toPipFile(config, { cert: '/out/ca.pem' }))], {})).toEqual({ ...config, cert: '/out/ca.pem' })
  })
})

describe('what a build may reach', () => {
  test("is the public index and its files' host", () => {
    expect(toIndexReach(plain, [])).toEqual([
      { host: 'files.pythonhosted.org', port: 443 },
      { host: 'pypi.org', port: 443 },
    ])
  })
  test('is every index, with its port, and where its links lead', () => {
    const config = { ...plain, indexUrl: 'http://10.0.0.5:3141/root/pypi/+simple', extraIndexUrls: ['https://b.example/simple'] }
    expect(toIndexReach(config, ['https://cdn.example:8443', 'http://10.0.0.5:3141'])).toEqual([
      { host: '10.0.0.5', port: 3141 },
      { host: 'b.example', port: 443 },
      { host: 'cdn.example', port: 8443 },
    ])
  })
  test.each([
    ['http://user:secret@proxy.example:3128', { host: 'proxy.example', port: 3128 }],
    ['proxy.example', { host: 'proxy.example', port: 80 }],
    ['https://proxy.example', { host: 'proxy.example', port: 443 }],
  ])('is the proxy alone: %s', (proxy, endpoint) => {
    expect(toIndexReach({ ...plain, proxy }, [])).toEqual([endpoint])
  })
  test('is asked for only where it is not known', () => {
    expect(needsDiscovery('https://pypi.org/simple')).toBe(false)
    expect(needsDiscovery('https://b.example/simple')).toBe(true)
    expect(projectOf(' Foo_Bar.baz[extra]>=1')).toBe('Foo_Bar.baz')
  })
  test('is found by asking each unknown index, whatever another one answers', async () => {
    const asked: string[] = []
    const file = (url: string) => ({ filename: 'x.whl', url, integrity: null, requiresPython: null, yanked: false })
    const listFiles = async (_config: unknown, index: string, project: string) => {
      asked.push(`${index} ${project}`)
      if (index === 'https://down.example/simple') throw new Error('no answer')
      return project === 'b' ? [file('https://cdn.example:8443/1.whl'), file('https://cdn.example:8443/2.whl')] : undefined
    }
    const warnings: string[] = []
    const logger: Logger = { debug() {}, info() {}, warn: (message) => warnings.push(message), error() {}, child: () => logger }
    const config = { ...plain, extraIndexUrls: ['https://down.example/simple', 'https://up.example/simple'] }
    const context = { signal: new AbortController().signal, progress() {} }
    expect(await discoverFileHosts({ logger, listFiles }, config, ['a>=1', 'b'], context)).toEqual(['https://cdn.example:8443'])
    expect(asked).toEqual(['https://down.example/simple a', 'https://up.example/simple a', 'https://up.example/simple b'])
    expect(warnings).toHaveLength(1)
  })
})

test.each([
  ['mcp_server_time-2026.10.19-py3-none-any.whl', { name: 'mcp-server-time', version: '2026.10.19' }],
  ['cffi-2.1.1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl', { name: 'cffi', version: '2.1.1' }],
  ['x-1.0-1-py3-none-any.whl', { name: 'x', version: '1.0' }],
  ['Foo.Bar-1.0.tar.gz', { name: 'foo-bar', version: '1.0' }],
  ['readme.txt', undefined],
])('the archive %s', (file, named) => {
  expect(parseDistributionName(file)).toEqual(named)
})

describe('a console script', () => {
  test('is run by a few lines', () => {
    expect(toRunPy({ name: 'other', entryPoint: 'a.b:c.d' })).toContain('    from a.b import c\n\n    sys.exit(c.d())\n')
  })
  test.each(['a', 'a:b()', 'a:b;import os', 'os.system("x"):y', 'a:b\nimport os'])(
    'that is no dotted name becomes no code: %s',
    (entryPoint) => {
      expect(() => toRunPy({ name: 'x', entryPoint })).toThrow(expect.objectContaining({ code: 'MANIFEST_MISSING' }))
    },
  )
})

describe("pip's script", () => {
  test('takes wheels only, unless sources are allowed', () => {
    expect(toPipScript('solve', { sdist: false })).toContain('--only-binary :all:')
    expect(toPipScript('solve', { sdist: true })).not.toContain('--only-binary')
  })
  test('never lets a source build reach the cache that others use', () => {
    expect(toPipScript('solve', { sdist: true })).not.toContain('/cache')
  })
  test('asks no index for what is kept, and checks every hash of what is locked', () => {
    expect(toPipScript('kept', { sdist: false })).not.toContain('pip download')
    expect(toPipScript('locked', { sdist: false })).toContain('--no-deps --require-hashes')
  })
  test('locks by name, version and hash', () => {
    const hash = Buffer.alloc(32, 7)
    expect(toLockedRequirements({ 'httpx@0.28.1': `sha256-${hash.toString('base64')}` })).toBe(
      `httpx==0.28.1 --hash=sha256:${hash.toString('hex')}\n`,
    )
  })
  test('locks what was solved in the same way whatever the order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1 }), (names) => {
        const locked = (order: string[]) => toLockedRequirements(Object.fromEntries(order.map((name) => [`${name}@1.0`, 'sha256-AAAA'])))
        expect(locked(names)).toBe(locked(names.toReversed()))
      }),
    )
  })
})

test.each<[string, string, string]>([
  [
    'WARNING: Retrying ... NewConnectionError(...): Failed to establish\nERROR: No matching distribution found for httpx',
    'REGISTRY_UNREACHABLE',
    'index-url',
  ],
  [
    'ERROR: Could not find a version that satisfies the requirement nope\nERROR: No matching distribution found for nope',
    'DEPENDENCY_INSTALL_FAILED',
    'install.sdist',
  ],
  [
    'ERROR: Cannot install a and b because these package versions have conflicting dependencies.\nERROR: ResolutionImpossible',
    'DEPENDENCY_UNSOLVABLE',
    'ranges',
  ],
  ['ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.', 'INTEGRITY_MISMATCH', 'why'],
  ['ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device', 'DISK_FULL', 'free'],
  ['error: subprocess-exited-with-error', 'DEPENDENCY_NOT_BUILT', 'wheel'],
])('pip saying %j', (output, code, hint) => {
  const error = toPipError({ exit: { kind: 'exit', code: 1, at: '' }, output }, 'weather', { locked: false, sdist: false })
  expect(error.code).toBe(code)
  expect(error.hint).toContain(hint)
  expect(error.message).toContain('weather'.slice(0, code === 'DISK_FULL' ? 0 : undefined))
})

test('an archive may have any of the hashes that are known of its algorithm', () => {
  expect(satisfiesIntegrity('sha256-a', 'sha256-b sha256-a')).toBe(true)
  expect(satisfiesIntegrity('sha256-a', 'sha256-b')).toBe(false)
  expect(satisfiesIntegrity('sha256-a', 'sha512-c')).toBe(true)
})

test('archives are found again by what was asked and by what was solved', async () => {
  const root = await mkdtemp(join(tmpdir(), 'pkgd-wheels-'))
  try {
    let now = Date.now()
    const house = createWheelhouse({ directory: join(root, 'wheels'), now: () => now })
    const [asked, solved] = [toSolutionKey('x\n', '3.11.7', false), toSolutionKey('x==1.0 --hash=sha256:0\n', '3.11.9', false)]
    expect(await house.find(asked)).toBeUndefined()
    for (const round of [1, 2]) {
      const folder = join(root, `new-${round}`)
      await mkdir(folder)
      await writeFile(join(folder, 'x-1.0-py3-none-any.whl'), 'wheel')
      await house.keep(solved, asked, folder)
    }
    now += 60_000
    const found = await house.find(asked)
    expect(found?.directory).toBe((await house.find(solved))?.directory)
    expect(found?.ageMs).toBeGreaterThan(50_000)
    expect(await readFile(join(found?.directory ?? '', 'x-1.0-py3-none-any.whl'), 'utf8')).toBe('wheel')
    expect((await listArchives(found?.directory ?? '')).map((archive) => archive.key)).toEqual(['x@1.0'])
  } finally {
    await rm(root, { recursive: true })
  }
})
