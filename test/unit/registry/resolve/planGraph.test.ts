import { describe, expect, it } from 'vitest'
import { findCoded } from '../../../../daemon/core/errors.ts'
import { emptyLockfile } from '../../../../registry/lockfile/lockfile.ts'
import { planGraph } from '../../../../registry/resolve/planGraph.ts'
import type { Candidate, InstalledPackage } from '../../../../registry/resolve/resolution.ts'
import { brief, candidate, installed, offline, registry } from './graphFixtures.ts'

describe('planGraph', () => {
  it('puts what is needed first, by id where there is a choice', async () => {
    const root = candidate('app', '1.0.0', { z: '^1', b: '^1' })
    const plan = await planGraph({
      root,
      installed: [],
      candidates: registry(candidate('z', '1.0.0'), candidate('b', '1.0.0', { c: '*' }), candidate('c', '1.0.0'), candidate('c', '1.1.0')),
    })
    expect(brief(plan)).toEqual(['install c@1.1.0', 'install b@1.0.0', 'install z@1.0.0', 'install app@1.0.0'])
    expect(plan.packages.at(-1)?.needs).toEqual(['b', 'z'])
    expect(plan.root).toBe('app')
  })

  it('finds one version for dependents of different ranges, an older one of a dependency if need be', async () => {
    const candidates = registry(
      candidate('a', '1.0.0', { shared: '>=1.1 <3' }),
      candidate('b', '2.0.0', { shared: '^3' }),
      candidate('b', '1.0.0', { shared: '^1.0.0' }),
      ...['1.0.0', '1.4.0', '2.0.0', '3.0.0'].map((version) => candidate('shared', version)),
    )
    const plan = await planGraph({ root: candidate('app', '1.0.0', { a: '*', b: '*' }), installed: [], candidates })
    expect(brief(plan)).toEqual(['install shared@1.4.0', 'install a@1.0.0', 'install b@1.0.0', 'install app@1.0.0'])
  })

  it('takes pre-releases only as semver says', async () => {
    const candidates = registry(candidate('a', '1.0.0'), candidate('a', '1.1.0-rc.1'), candidate('a', '2.0.0-beta.2'))
    const plan = (range: string) => planGraph({ root: candidate('app', '1.0.0', { a: range }), installed: [], candidates }).then(brief)
    expect(await plan('^1.0.0')).toContain('install a@1.0.0')
    expect(await plan('>=1.1.0-rc.0 <1.2.0')).toContain('install a@1.1.0-rc.1')
    expect(await plan('^2.0.0-beta.1')).toContain('install a@2.0.0-beta.2')
  })

  it('keeps what is installed and asks no registry', async () => {
    const plan = await planGraph({
      root: candidate('app', '1.0.0', { a: '^1' }),
      installed: [installed('a', '1.0.0', { b: '*' }), installed('b', '1.0.0')],
      candidates: offline,
    })
    expect(brief(plan)).toEqual(['keep b@1.0.0', 'keep a@1.0.0', 'install app@1.0.0'])
  })

  it('replaces what is installed where it will not do', async () => {
    const candidates = registry(candidate('a', '2.0.0'), candidate('a', '1.0.0'))
    const plan = await planGraph({
      root: candidate('app', '2.0.0', { a: '^2' }),
      installed: [installed('a', '1.0.0'), installed('app', '1.0.0')],
      candidates,
    })
    expect(brief(plan)).toEqual(['replace a@2.0.0', 'replace app@2.0.0'])
  })

  it('keeps the very same root, but installs a folder anew', async () => {
    const root = candidate('app', '1.0.0')
    expect(brief(await planGraph({ root, installed: [installed('app', '1.0.0')], candidates: offline }))).toEqual(['keep app@1.0.0'])
    const folder: Candidate = { ...root, resolution: { kind: 'folder', path: '/srv/app' } }
    const there: InstalledPackage = { ...installed('app', '1.0.0'), resolution: folder.resolution }
    expect(brief(await planGraph({ root: folder, installed: [there], candidates: offline }))).toEqual(['replace app@1.0.0'])
  })

  it('prefers the locked version to a newer one', async () => {
    const candidates = registry(candidate('a', '1.0.0'), candidate('a', '1.2.0'))
    const { resolution } = candidate('a', '1.0.0')
    const lock = { ...emptyLockfile, packages: { a: { version: '1.0.0', resolution, tree: '', dependencies: {}, extensions: {} } } }
    expect(brief(await planGraph({ root: candidate('app', '1.0.0', { a: '^1' }), installed: [], candidates, lock }))).toContain(
      'install a@1.0.0',
    )
    expect(brief(await planGraph({ root: candidate('app', '1.0.0', { a: '>1.0.0' }), installed: [], candidates, lock }))).toContain(
      'install a@1.2.0',
    )
  })

  it('does not break an installed package that is no part of the plan', async () => {
    const candidates = registry(candidate('x', '1.0.0'), candidate('x', '1.5.0'), candidate('x', '2.0.0'))
    const there = [installed('x', '1.0.0'), installed('y', '1.0.0', { x: '^1' })]
    const fine = await planGraph({ root: candidate('app', '1.0.0', { x: '>=1.1' }), installed: there, candidates })
    expect(brief(fine)).toEqual(['replace x@1.5.0', 'install app@1.0.0'])
    await expect(planGraph({ root: candidate('app', '1.0.0', { x: '^2' }), installed: there, candidates })).rejects.toMatchObject({
      code: 'DEPENDENCY_UNSOLVABLE',
      message:
        'No version of x satisfies everyone who needs it: app@1.0.0 wants ^2; y@1.0.0 (installed) wants ^1; there are 2.0.0, 1.5.0, 1.0.0',
      hint: 'upgrade or uninstall y first',
    })
    await expect(planGraph({ root: candidate('x', '2.0.0'), installed: there, candidates })).rejects.toMatchObject({
      code: 'DEPENDENCY_UNSOLVABLE',
      message: expect.stringContaining('y@1.0.0 (installed) wants ^1'),
    })
  })

  it('upgrades a dependent along when it is part of the plan', async () => {
    const candidates = registry(
      candidate('x', '1.0.0'),
      candidate('x', '2.0.0'),
      candidate('y', '1.0.0', { x: '^1' }),
      candidate('y', '2.0.0', { x: '^2' }),
    )
    const there = [installed('x', '1.0.0'), installed('y', '1.0.0', { x: '^1' })]
    const plan = await planGraph({ root: candidate('app', '1.0.0', { x: '^2', y: '*' }), installed: there, candidates })
    expect(brief(plan)).toEqual(['replace x@2.0.0', 'replace y@2.0.0', 'install app@1.0.0'])
  })

  it('says who wants what, and what there is', async () => {
    const candidates = registry(
      candidate('a', '1.0.0', { c: '^1' }),
      candidate('b', '1.0.0', { c: '^2' }),
      candidate('c', '1.0.0'),
      candidate('c', '2.0.0'),
    )
    await expect(planGraph({ root: candidate('app', '1.0.0', { a: '*', b: '*' }), installed: [], candidates })).rejects.toMatchObject({
      code: 'DEPENDENCY_UNSOLVABLE',
      message: 'No version of c satisfies everyone who needs it: a@1.0.0 wants ^1; b@1.0.0 wants ^2; there are 2.0.0, 1.0.0',
      issues: [{ message: 'a@1.0.0 wants c@^1' }, { message: 'b@1.0.0 wants c@^2' }],
    })
  })

  it('says what to do where one alone wants what there is not', async () => {
    const candidates = registry(candidate('a', '1.0.0'))
    await expect(planGraph({ root: candidate('app', '1.0.0', { a: '^2' }), installed: [], candidates })).rejects.toMatchObject({
      message: 'No version of a satisfies everyone who needs it: app@1.0.0 wants ^2; there are 1.0.0',
      hint: 'add a registry that has a in that range, or change the range in app',
    })
  })

  it('says that no registry has it', async () => {
    await expect(
      planGraph({ root: candidate('app', '1.0.0', { gone: '^1' }), installed: [], candidates: registry() }),
    ).rejects.toMatchObject({
      code: 'DEPENDENCY_UNSOLVABLE',
      message: 'No configured registry has gone: app@1.0.0 wants ^1',
    })
  })

  it('passes on that a registry cannot be reached', async () => {
    await expect(planGraph({ root: candidate('app', '1.0.0', { a: '*' }), installed: [], candidates: offline })).rejects.toMatchObject({
      code: 'REGISTRY_UNREACHABLE',
    })
  })

  it.each<[string, Candidate, Candidate[], string]>([
    ['of two', candidate('a', '1.0.0', { b: '*' }), [candidate('b', '1.0.0', { a: '*' })], 'a -> b -> a'],
    [
      'of three',
      candidate('a', '1.0.0', { b: '*' }),
      [candidate('b', '1.0.0', { c: '*' }), candidate('c', '1.0.0', { a: '*' })],
      'a -> b -> c -> a',
    ],
    [
      'below the root',
      candidate('r', '1.0.0', { a: '*' }),
      [candidate('a', '1.0.0', { b: '*' }), candidate('b', '1.0.0', { a: '*' })],
      'a -> b -> a',
    ],
  ])('names a cycle %s as a path', async (_, root, others, path) => {
    const error = await planGraph({ root, installed: [], candidates: registry(...others) }).catch((thrown: unknown) => thrown)
    expect(findCoded(error)?.code).toBe('DEPENDENCY_CYCLE')
    const members = path.split(' -> ').slice(1)
    const turns = members.map((_, turn) => [...members.slice(turn), ...members.slice(0, turn + 1)].join(' -> '))
    expect(turns.some((turn) => String(error).includes(turn))).toBe(true)
  })

  it('avoids a cycle where an older version has none', async () => {
    const candidates = registry(candidate('b', '2.0.0', { a: '*' }), candidate('b', '1.0.0'))
    expect(brief(await planGraph({ root: candidate('a', '1.0.0', { b: '*' }), installed: [], candidates }))).toEqual([
      'install b@1.0.0',
      'install a@1.0.0',
    ])
  })

  it('gives up on no hard graph before it has looked where it matters', async () => {
    const wide = Array.from({ length: 12 }, (_, at) => `m${String(at).padStart(2, '0')}`)
    const all = [...wide.flatMap((id) => Array.from({ length: 20 }, (_, minor) => candidate(id, `1.${minor}.0`))), candidate('zz', '1.0.0')]
    const root = candidate('app', '1.0.0', { ...Object.fromEntries(wide.map((id) => [id, '^1'])), zz: '^2' })
    await expect(planGraph({ root, installed: [], candidates: registry(...all) })).rejects.toMatchObject({
      message: expect.stringContaining('zz'),
    })
  })
})
