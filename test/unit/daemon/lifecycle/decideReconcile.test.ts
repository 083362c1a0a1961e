import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PackageState } from '../../../../daemon/core/types.ts'
import { decideReconcile, type Verdict, type Wish } from '../../../../daemon/lifecycle/decideReconcile.ts'
import type { SandboxRecord } from '../../../../daemon/store/state.ts'
import type { SandboxInfo, SandboxReport, SandboxStatus } from '../../../../sandbox/sandboxDriver.ts'

const at = '2026-01-01T00:00:00.000Z'
const running: SandboxStatus = { state: 'running', startedAt: at }
const exited: SandboxStatus = { state: 'exited', exit: { kind: 'signal', signal: 'SIGKILL', at } }
const reading = { asked: 1, engine: 1, effective: 1, enforced: true }
const report: SandboxReport = {
  limits: { memory: reading, cpu: reading, pids: reading, tmp: reading },
  readOnlyRoot: true,
  capabilities: [],
  noNewPrivileges: true,
  seccomp: true,
  user: '200000:200000',
  init: true,
  network: 'none',
  image: 'x',
}

const handle = (sandbox: string) => ({ driver: 'docker', id: sandbox, name: `pkgd-aaaaaaaa-${sandbox}` })
const info = (sandbox: string, packageId = 'a', over: { spec?: string; version?: string; status?: SandboxStatus } = {}): SandboxInfo => ({
  handle: handle(sandbox),
  identity: { daemon: 'aaaaaaaa', packageId, version: over.version ?? '1.0.0', spec: over.spec ?? 's1' },
  status: over.status ?? running,
})
const known = (sandbox: string, packageId = 'a', over: Partial<SandboxRecord> = {}): SandboxRecord => ({
  packageId,
  handle: handle(sandbox),
  spec: 's1',
  report,
  launchedAt: at,
  session: { token: 't' },
  ...over,
})
const wish = (over: Partial<Wish> = {}): Wish => ({
  id: 'a',
  version: '1.0.0',
  desired: 'running',
  onDemand: false,
  state: 'running',
  spec: 's1',
  live: null,
  busy: false,
  ...over,
})
/** A verdict in a word: what, and about which sandbox or package. */
const tell = (verdict: Verdict) => {
  if (verdict.kind === 'adopt') return `adopt ${verdict.info.handle.id}`
  if (verdict.kind === 'remove') return `remove ${verdict.info.handle.id} ${verdict.why}`
  if (verdict.kind === 'missed') return `missed ${verdict.id} ${verdict.end.kind}`
  return `${verdict.kind} ${verdict.id}`
}

test.each<[string, SandboxRecord[], SandboxInfo[], Wish[], string[]]>([
  ['the same sandbox, running', [known('x')], [info('x')], [wish()], ['adopt x']],
  ['frozen', [known('x')], [info('x', 'a', { status: { state: 'frozen', startedAt: at } })], [wish({ state: 'frozen' })], ['adopt x']],
  ['it exited meanwhile', [known('x')], [info('x', 'a', { status: exited })], [wish()], ['remove x exited', 'vacate a', 'start a']],
  ['it is gone', [known('x')], [], [wish()], ['drop a', 'vacate a', 'start a']],
  [
    'it was never ready',
    [known('x', 'a', { session: null })],
    [info('x')],
    [wish({ state: 'starting' })],
    ['remove x never-ready', 'vacate a', 'start a'],
  ],
  ['another spec is wanted', [known('x')], [info('x')], [wish({ spec: 's2' })], ['remove x outdated', 'vacate a', 'start a']],
  ['another version is installed', [known('x')], [info('x')], [wish({ version: '2.0.0' })], ['remove x outdated', 'vacate a', 'start a']],
  ['its label says another spec', [known('x')], [info('x', 'a', { spec: 's0' })], [wish()], ['remove x outdated', 'vacate a', 'start a']],
  ['what is wanted cannot be worked out', [known('x')], [info('x')], [wish({ spec: null })], ['adopt x']],
  ['it was stopped', [known('x')], [info('x')], [wish({ desired: 'stopped', state: 'stopping' })], ['remove x stopped', 'vacate a']],
  ['a second one of the same package', [known('x')], [info('x'), info('y')], [wish()], ['remove y unknown', 'adopt x']],
  ['one without a record', [], [info('y')], [wish()], ['remove y unknown', 'vacate a', 'start a']],
  ['one of a package that is not installed', [], [info('y', 'ghost')], [], ['remove y unknown']],
  ['a record of a package that is not installed', [known('x', 'ghost')], [], [], ['drop ghost']],
  ['it should run and does not', [], [], [wish({ state: 'stopped' })], ['start a']],
  ['it should not and does not', [], [], [wish({ state: 'stopped', desired: 'stopped' })], []],
  ['asleep', [], [], [wish({ state: 'asleep', onDemand: true })], []],
  ['asleep, and its stop was not finished', [], [], [wish({ state: 'asleep', onDemand: true, desired: 'stopped' })], ['vacate a']],
  ['on demand, its sandbox is gone', [known('x')], [], [wish({ onDemand: true })], ['drop a', 'vacate a']],
  ['our own conversation goes on', [known('x')], [info('x')], [wish({ live: 'x' })], []],
  ['ours exited unheard', [known('x')], [info('x', 'a', { status: exited })], [wish({ live: 'x' })], ['missed a exited']],
  ['ours is gone unheard', [known('x')], [], [wish({ live: 'x' })], ['missed a vanished']],
  ['under way', [], [info('y')], [wish({ busy: true, state: 'starting' })], []],
])('%s', (_name, records, present, wishes, verdicts) => {
  expect(decideReconcile(records, present, wishes).map(tell)).toEqual(verdicts)
})

const sandboxes = fc.constantFrom('x', 'y', 'z')
const packages = fc.constantFrom('a', 'b', 'ghost')
const states = fc.constantFrom<PackageState>('stopped', 'asleep', 'starting', 'running', 'frozen', 'backoff', 'stopping', 'failed')

test('whatever is found, nothing is both adopted and removed, one package has one sandbox, and what is stopped is neither adopted nor started', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(sandboxes, packages), { selector: ([, id]) => id }),
      fc.uniqueArray(fc.tuple(sandboxes, packages, fc.boolean()), { selector: ([id]) => id }),
      fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b'), states, fc.boolean(), fc.boolean()), { selector: ([id]) => id }),
      (records, present, wishes) => {
        const verdicts = decideReconcile(
          records.map(([sandbox, id]) => known(sandbox, id)),
          present.map(([sandbox, id, up]) => info(sandbox, id, { status: up ? running : exited })),
          wishes.map(([id, state, up, onDemand]) => wish({ id, state, desired: up ? 'running' : 'stopped', onDemand })),
        )
        const adopted = verdicts.flatMap((verdict) => (verdict.kind === 'adopt' ? [verdict] : []))
        const removed = verdicts.flatMap((verdict) => (verdict.kind === 'remove' ? [verdict.info.handle.id] : []))
        const started = verdicts.flatMap((verdict) => (verdict.kind === 'start' ? [verdict.id] : []))
        const owners = adopted.map(({ known: { packageId } }) => packageId)
        expect(adopted.filter(({ info: { handle: of } }) => removed.includes(of.id))).toEqual([])
        expect(new Set([...owners, ...started]).size).toBe(owners.length + started.length)
        expect(new Set(removed).size).toBe(removed.length)
        for (const [id, , up] of wishes) if (!up) expect([...owners, ...started]).not.toContain(id)
        for (const { info: found } of adopted) expect(found.status.state).toBe('running')
        // Nothing that is there is left without somebody who knows it.
        for (const [sandbox] of present) expect([...removed, ...adopted.map((each) => each.info.handle.id)]).toContain(sandbox)
      },
    ),
  )
})
