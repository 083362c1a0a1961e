import { describe, expect, test } from 'vitest'
import type { PkgdError } from '../../../../../daemon/core/errors.ts'
import type { Permissions } from '../../../../../daemon/install/installer.ts'
import { decideGrants, requireConsent } from '../../../../../daemon/install/permissions/decideGrants.ts'
import { listRequests } from '../../../../../daemon/install/permissions/listRequests.ts'
import type { SandboxRequest } from '../../../../../registry/manifest/manifest.ts'
import { manifestOf } from '../manifestFixture.ts'

const MB = 1024 ** 2
const docs = { name: 'documents', target: '/docs', readOnly: true, description: 'what to search' }

const thrown = (body: () => void): PkgdError => {
  try {
    body()
  } catch (error) {
    return error as PkgdError
  }
  throw new Error('nothing was thrown')
}

describe('what a manifest asks beyond the default sandbox', () => {
  const table: [string, Partial<SandboxRequest>, string[]][] = [
    ['nothing', {}, []],
    ['less than the default', { memoryBytes: 64 * MB, cpus: 0.5, pids: 16, tmpBytes: MB }, []],
    ['the internet', { network: true }, ['reach the public internet']],
    ['an allow-list', { network: { allow: ['api.example.com:443', 'b.example.com:80'] } }, ['reach api.example.com:443, b.example.com:80']],
    ['data', { data: true }, ['keep files of its own in /data']],
    ['a mount', { mounts: [docs] }, ['read a folder of yours at /docs, for documents (what to search)']],
    [
      'a writable mount',
      { mounts: [{ ...docs, readOnly: false }] },
      ['read and write a folder of yours at /docs, for documents (what to search)'],
    ],
    ['memory', { memoryBytes: 512 * MB }, ['use 512MB of memory (the default is 256MB)']],
    ['CPUs', { cpus: 2 }, ['use 2 CPUs (the default is 1)']],
    ['processes', { pids: 512 }, ['run up to 512 processes and threads (the default is 128)']],
    ['space', { tmpBytes: 128 * MB }, ['use 128MB of space in /tmp (the default is 64MB)']],
    ['an image', { image: 'debian:12' }, ["run on the image debian:12 instead of pkgd's own"]],
  ]
  test.each(table)('%s', (_name, sandbox, texts) => {
    expect(listRequests(manifestOf({ sandbox })).map((request) => request.text)).toEqual(texts)
  })
})

describe('consent', () => {
  const open = (sandbox: Partial<SandboxRequest>, permissions: Permissions = {}) =>
    decideGrants(manifestOf({ sandbox }), permissions, undefined).open.map((request) => request.kind)

  const table: [string, Partial<SandboxRequest>, Permissions, string[]][] = [
    ['is not needed for nothing', {}, {}, []],
    ['is needed for the network', { network: true }, {}, ['network']],
    ['is given by the option itself', { network: true }, { network: { mode: 'internet' } }, []],
    ['is not needed for what the user takes away', { network: true, data: true }, { network: { mode: 'none' }, filesystem: false }, []],
    ['for one thing leaves the others open', { network: true, memoryBytes: 512 * MB }, { memoryBytes: 512 * MB }, ['network']],
    ['for a mount is its source', { mounts: [docs] }, { mounts: [{ source: '/home/me/docs', target: '/docs', readOnly: true }] }, []],
    ['for a mount is not another mount', { mounts: [docs] }, { mounts: [{ source: '/x', target: '/y', readOnly: true }] }, ['mount']],
    ['for an image cannot be an option', { image: 'debian:12' }, {}, ['image']],
  ]
  test.each(table)('%s', (_name, sandbox, permissions, kinds) => {
    expect(open(sandbox, permissions)).toEqual(kinds)
  })

  test('is refused with every request as an issue that says how to settle it', () => {
    const { open } = decideGrants(manifestOf({ sandbox: { network: true, data: true, mounts: [docs] } }), {}, undefined)
    const error = thrown(() => requireConsent(open, false, new Set()))
    expect(error.code).toBe('CONSENT_REQUIRED')
    expect(error.issues).toEqual([
      { pointer: '/sandbox/network', message: 'weather asks to reach the public internet', rule: 'network', fix: '--network internet' },
      { pointer: '/sandbox/filesystem', message: 'weather asks to keep files of its own in /data', rule: 'data', fix: '--yes' },
      {
        pointer: '/sandbox/filesystem/mounts/0',
        message: 'weather asks to read a folder of yours at /docs, for documents (what to search)',
        rule: 'mount',
        fix: '--mount <folder>:/docs:ro',
      },
    ])
    expect(error.hint).toBe('grant it with --yes and --mount <folder>:/docs:ro')
  })

  test('to all never chooses a mount', () => {
    const { open } = decideGrants(manifestOf({ sandbox: { network: true, mounts: [docs] } }), {}, undefined)
    const error = thrown(() => requireConsent(open, true, new Set()))
    expect(error.code).toBe('MOUNT_REFUSED')
    expect(error.issues).toHaveLength(1)
    expect(error.hint).toBe('say which: --mount <folder>:/docs:ro')
  })

  test('to all is enough for the rest', () => {
    const { open } = decideGrants(manifestOf({ sandbox: { network: true, data: true, memoryBytes: 512 * MB } }), {}, undefined)
    expect(() => requireConsent(open, true, new Set())).not.toThrow()
  })
})

describe('grants', () => {
  test('are what the manifest asks, under what the user says', () => {
    const manifest = manifestOf({ sandbox: { network: true, data: true, memoryBytes: 512 * MB, cpus: 2 } })
    const { grants } = decideGrants(manifest, { network: { mode: 'none' }, cpus: 0.5 }, undefined)
    expect(grants).toEqual({
      network: { mode: 'none' },
      data: true,
      mounts: [],
      limits: { memoryBytes: 512 * MB, cpus: 0.5, pids: 128, tmpBytes: 64 * MB },
    })
  })

  test('of a mount are never more than the manifest asks', () => {
    const mounts = [
      { source: '/a', target: '/docs', readOnly: false },
      { source: '/b', target: '/other', readOnly: false },
    ]
    expect(decideGrants(manifestOf({ sandbox: { mounts: [docs] } }), { mounts }, undefined).grants.mounts).toEqual([
      { source: '/a', target: '/docs', readOnly: true },
      { source: '/b', target: '/other', readOnly: false },
    ])
  })

  test('of two mounts at one place are refused', () => {
    const mounts = [
      { source: '/a', target: '/docs', readOnly: true },
      { source: '/b', target: '/docs', readOnly: true },
    ]
    expect(thrown(() => decideGrants(manifestOf(), { mounts }, undefined)).code).toBe('MOUNT_REFUSED')
  })
})

describe('an upgrade', () => {
  const before = manifestOf({ sandbox: { network: true, memoryBytes: 512 * MB, mounts: [docs] } })
  const formerly = (permissions: Permissions) => ({ manifest: before, grants: decideGrants(before, permissions, undefined).grants })
  const mounted = { mounts: [{ source: '/a', target: '/docs', readOnly: true }] }

  test('that asks for the same asks nothing, and keeps the mounts', () => {
    const { open, grants } = decideGrants(manifestOf({ ...before, version: '2.0.0' }), {}, formerly(mounted))
    expect(open).toEqual([])
    expect(grants.mounts).toEqual(mounted.mounts)
  })

  test('with mounts has those and no others', () => {
    const other = { source: '/b', target: '/other', readOnly: false }
    const former = formerly({ mounts: [...mounted.mounts, other] })
    expect(decideGrants(before, {}, former).grants.mounts).toEqual([...mounted.mounts, other])
    expect(decideGrants(before, mounted, former).grants.mounts).toEqual(mounted.mounts)
    const without = decideGrants(before, { mounts: [] }, former)
    expect(without.grants.mounts).toEqual([])
    expect(without.open.map((request) => request.kind)).toEqual(['mount'])
  })

  test('keeps what the user had taken away', () => {
    const { open, grants } = decideGrants(
      manifestOf({ ...before, version: '2.0.0' }),
      {},
      formerly({ ...mounted, network: { mode: 'none' } }),
    )
    expect(open).toEqual([])
    expect(grants.network).toEqual({ mode: 'none' })
  })

  test('asks for what is new, and only for that', () => {
    const after = manifestOf({ ...before, sandbox: { ...before.sandbox, memoryBytes: 1024 * MB, data: true } })
    const { open } = decideGrants(after, {}, formerly(mounted))
    expect(open.map((request) => request.kind)).toEqual(['data', 'memory'])
    expect(thrown(() => requireConsent(open, false, new Set(['weather']))).message).toContain(
      'weather now asks to keep files of its own in /data',
    )
  })

  test('asks anew for a wider network than the one that was taken away', () => {
    const narrow = manifestOf({ sandbox: { network: { allow: ['a.example.com:443'] } } })
    const former = { manifest: narrow, grants: decideGrants(narrow, { network: { mode: 'none' } }, undefined).grants }
    const { open, grants } = decideGrants(manifestOf({ sandbox: { network: true } }), {}, former)
    expect(open.map((request) => request.kind)).toEqual(['network'])
    expect(grants.network).toEqual({ mode: 'internet' })
  })
})
