import { describe, expect, it } from 'vitest'
import { pickSuite } from '../../../../sandbox/images/buildDebianRoot.ts'
import { isRecentPython, parsePythonProbe } from '../../../../sandbox/images/hostPython.ts'
import { type ImageSources, toImageKey } from '../../../../sandbox/images/imageSources.ts'
import { parseLdd } from '../../../../sandbox/images/sharedLibraries.ts'

describe('parseLdd', () => {
  it('finds libraries and loaders, of several files at once', () => {
    const output = `/usr/bin/node:
\tlinux-vdso.so.1 (0x00007ffd)
\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f17)
\tlibgone.so.1 => not found
\t/lib64/ld-linux-x86-64.so.2 (0x00007f18)
/usr/bin/python3.11:
\tlibz.so.1 => /lib/with space/libz.so.1 (0x00007f19)
\t/lib64/ld-linux-x86-64.so.2 => /usr/lib64/ld-linux-x86-64.so.2 (0x00007f20)
/bin/static:
\tnot a dynamic executable
`
    const { libraries, loaders } = parseLdd(output)
    expect(Object.fromEntries(libraries)).toEqual({
      'libm.so.6': '/lib/x86_64-linux-gnu/libm.so.6',
      'libz.so.1': '/lib/with space/libz.so.1',
    })
    expect(loaders).toEqual(['/lib64/ld-linux-x86-64.so.2'])
  })

  it("reads musl's", () => {
    const { libraries, loaders } = parseLdd(
      '\t/lib/ld-musl-x86_64.so.1 (0x7f)\n\tlibstdc++.so.6 => /usr/lib/libstdc++.so.6 (0x7f)\n\tlibc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f)\n',
    )
    expect([...libraries.keys()]).toEqual(['libstdc++.so.6', 'libc.musl-x86_64.so.1'])
    expect(loaders).toEqual(['/lib/ld-musl-x86_64.so.1'])
  })
})

describe('the Python of a host', () => {
  it.each([
    ['3.11.0', true],
    ['3.14.2', true],
    ['3.10.12', false],
    ['2.7.18', false],
    ['4.0.0', false],
  ])('%s may be counted on: %s', (version, recent) => {
    expect(isRecentPython(version)).toBe(recent)
  })

  const probed = {
    version: '3.12.1',
    executable: '/usr/bin/python3.12',
    prefix: '/usr',
    stdlib: '/usr/lib/python3.12',
    platstdlib: '/usr/lib/python3.12',
    implementation: 'cpython',
    pip: { kind: 'wheel', path: '/usr/share/python-wheels/pip-24.0-py3-none-any.whl', version: '24.0' },
  }

  it('is taken when it is complete', () => {
    const { implementation, ...python } = probed
    expect(parsePythonProbe(JSON.stringify(probed))).toEqual(python)
  })

  it.each([{ pip: null }, { implementation: 'pypy' }, { version: '3.9.2' }])('is not taken with %o', (lack) => {
    expect(parsePythonProbe(JSON.stringify({ ...probed, ...lack }))).toBeUndefined()
  })
})

describe('pickSuite', () => {
  it.each([
    ['ID=debian\nVERSION_CODENAME=trixie\n', 'trixie'],
    ['ID=ubuntu\nVERSION_CODENAME=noble\nID_LIKE=debian\n', 'stable'],
    ['ID=debian\n', 'stable'],
    ['', 'stable'],
  ])('%j is %s', (osRelease, suite) => {
    expect(pickSuite(osRelease)).toBe(suite)
  })
})

describe('toImageKey', () => {
  const sources: ImageSources = {
    runtime: 'node',
    node: { path: '/n', version: '26.10.0' },
    python: null,
    programs: { sh: '/bin/dash' },
    modules: [],
    libraries: { 'libc.so.6': '/lib/libc.so.6' },
    loaders: ['/lib64/ld.so'],
    certificates: [],
    zoneinfo: null,
    files: [
      { path: '/a', size: 1, mtimeMs: 1 },
      { path: '/b', size: 2, mtimeMs: 2 },
    ],
  }

  it('is the same for the same sources in any order', () => {
    expect(toImageKey({ ...sources, files: sources.files.toReversed() })).toBe(toImageKey(sources))
    expect(toImageKey(sources)).toMatch(/^[0-9a-f]{16}$/)
  })

  it.each([
    {
      files: [
        { path: '/a', size: 1, mtimeMs: 5 },
        { path: '/b', size: 2, mtimeMs: 2 },
      ],
    },
    {
      files: [
        { path: '/a', size: 3, mtimeMs: 1 },
        { path: '/b', size: 2, mtimeMs: 2 },
      ],
    },
    { node: { path: '/n', version: '26.11.0' } },
    { python: 'debian' as const },
    { loaders: [] },
  ])('is another with %o', (change) => {
    expect(toImageKey({ ...sources, ...change })).not.toBe(toImageKey(sources))
  })
})
