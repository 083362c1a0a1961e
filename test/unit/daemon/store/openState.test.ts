import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { locateHome } from '../../../../daemon/core/home.ts'
import type { Clock, Logger } from '../../../../daemon/core/ports.ts'
import { openState } from '../../../../daemon/store/openState.ts'
import type { JobRecord, PackageRecord, PackageStatus, SandboxRecord } from '../../../../daemon/store/state.ts'
import { toFirstUid } from '../../../../daemon/store/uidRange.ts'

const clock: Clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5), after: () => () => {} }
const logged: string[] = []
const log: Logger = {
  debug: () => {},
  info: () => {},
  warn: (message) => logged.push(message),
  error: (message) => logged.push(message),
  child: () => log,
}

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pkgd-state-'))
  logged.length = 0
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const home = (path = root) => locateHome({ PKGD_HOME: path })
const open = (path = root) => openState({ home: home(path), clock, log })

const record = (id: string, version = '1.0.0') => ({ id, version, command: ['node', 'x.js'] }) as Partial<PackageRecord> as PackageRecord
const status = (over: Partial<PackageStatus> = {}): PackageStatus => ({
  desired: 'stopped',
  state: 'stopped',
  reason: null,
  health: 'unknown',
  lastError: null,
  restarts: [],
  wasReady: false,
  since: '2026-01-01T00:00:00Z',
  ...over,
})
const sandbox = (packageId: string, session: unknown = null) =>
  ({
    packageId,
    handle: { driver: 'fake', id: 'c1', name: 'n' },
    spec: 's',
    launchedAt: '2026',
    session,
  }) as Partial<SandboxRecord> as SandboxRecord
const event = (time: string) => ({
  specversion: '1.0' as const,
  source: 's',
  type: 'job.updated',
  time,
  datacontenttype: 'application/json' as const,
  data: { n: time },
})

const job = (id: string, state: JobRecord['state']): JobRecord => ({
  id,
  kind: 'install',
  subject: 'x',
  state,
  stage: null,
  message: null,
  progress: null,
  error: null,
  result: null,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
})

test('what was written is there after a reopening, and the file is private', () => {
  {
    using state = open()
    state.packages.put(record('a'))
    state.statuses.put('a', status({ desired: 'running' }))
    state.sandboxes.put(sandbox('a', { era: 'x' }))
    state.sandboxes.setSession('a', { era: 'y' })
    state.catalogs.put({ packageId: 'a', tree: 't', value: { tools: [1] } })
    state.secrets.put('a', 'KEY', 'value')
    state.sagas.put({ jobId: 'j', kind: 'install', step: 'fetch', data: { x: 1 } })
    state.meta.put('driver', 'docker')
  }
  using state = open()
  expect(state.restored).toBe(false)
  expect(state.packages.list()).toEqual([record('a')])
  expect(state.statuses.get('a')?.desired).toBe('running')
  expect(state.sandboxes.list()).toEqual([sandbox('a', { era: 'y' })])
  expect(state.catalogs.get('a', 't')?.value).toEqual({ tools: [1] })
  expect(state.secrets.get('a', 'KEY')).toBe('value')
  expect(state.sagas.list()).toEqual([{ jobId: 'j', kind: 'install', step: 'fetch', data: { x: 1 } }])
  expect(state.meta.get('driver')).toBe('docker')
  expect(statSync(home().state).mode & 0o777).toBe(0o600)
})

test('removing a package takes its status, sandbox and catalog with it, not its secrets or uid', () => {
  using state = open()
  state.packages.put(record('a'))
  state.statuses.put('a', status())
  state.sandboxes.put(sandbox('a'))
  state.catalogs.put({ packageId: 'a', tree: 't', value: 1 })
  state.secrets.put('a', 'KEY', 'value')
  const uid = state.packages.allocateUid('a', 200_000)
  state.packages.remove('a')
  expect(state.statuses.get('a')).toBeUndefined()
  expect(state.sandboxes.list()).toEqual([])
  expect(state.catalogs.get('a', 't')).toBeUndefined()
  expect(state.secrets.get('a', 'KEY')).toBe('value')
  expect(state.packages.allocateUid('a', 200_000)).toBe(uid)
})

test('no two packages ever share a uid, a higher first is obeyed', () => {
  using state = open()
  const first = toFirstUid(state.daemonId, 200_000)
  expect(state.packages.allocateUid('a', 200_000)).toBe(first)
  expect(state.packages.allocateUid('b', 200_000)).toBe(first + 1)
  expect(state.packages.allocateUid('c', 300_000)).toBe(first + 100_000)
  expect(state.packages.allocateUid('d', 200_000)).toBe(first + 100_001)
  expect(state.packages.allocateUid('a', 300_000)).toBe(first)
})

test('two daemons have uids of their own, at or above what is configured, of 32 bits', () => {
  const ids = ['00000000', '00000001', '1a2b3c4d', 'ffffffff']
  const firsts = ids.map((id) => toFirstUid(id, 200_000))
  expect(new Set(firsts).size).toBe(ids.length)
  for (const first of firsts) expect(first).toBeGreaterThanOrEqual(200_000)
  for (const one of firsts) for (const other of firsts) if (one !== other) expect(Math.abs(one - other)).toBeGreaterThanOrEqual(1024)
  expect(toFirstUid('ffffffff', 2_000_000_000)).toBeLessThan(2 ** 31)
})

test('a transaction is all or nothing, however it is nested', () => {
  using state = open()
  expect(() =>
    state.transaction(() => {
      state.statuses.put('a', status())
      state.packages.put(record('a'))
      state.transaction(() => state.packages.put(record('b')), { durable: true })
      throw new Error('stop')
    }),
  ).toThrow('stop')
  expect(state.packages.list()).toEqual([])
  state.transaction(() => {
    state.statuses.put('a', status())
    state.packages.put(record('a'))
  })
  expect(state.statuses.get('a')).toEqual(status())
  expect(() => state.statuses.put('nobody', status())).toThrow()
})

test('jobs are newest first and paged; a dead daemon’s unfinished ones fail; old ones are pruned, running ones never', () => {
  using state = open()
  for (const id of ['1', '2', '3', '4', '5']) state.jobs.put(job(id, id === '1' ? 'running' : 'succeeded'))
  expect(state.jobs.list({ limit: 2 }).map(({ id }) => id)).toEqual(['5', '4'])
  expect(state.jobs.list({ limit: 2, cursor: '4' }).map(({ id }) => id)).toEqual(['3', '2'])
  state.jobs.prune(2)
  expect(state.jobs.list({ limit: 9 }).map(({ id }) => id)).toEqual(['5', '4', '1'])
  const error = { code: 'INTERNAL', message: 'gone', at: '2026-01-01T00:00:00Z' }
  expect(state.jobs.failUnfinished(error).map(({ id }) => id)).toEqual(['1'])
  expect(state.jobs.get('1')).toMatchObject({ state: 'failed', error, updatedAt: '2026-01-02T03:04:05.000Z' })
  expect(state.jobs.failUnfinished(error)).toEqual([])
})

test('event ids only grow, over pruning and reopening', () => {
  {
    using state = open()
    expect(state.events.last()).toBe('0')
    for (const day of ['01', '02', '03']) state.events.append(event(`2026-01-${day}T00:00:00Z`))
    expect(state.events.since('1', 10).map(({ id }) => id)).toEqual(['2', '3'])
    expect(state.events.since('0', 1)[0]).toMatchObject({ id: '1', type: 'job.updated', data: { n: '2026-01-01T00:00:00Z' } })
    state.events.prune('2026-01-02T00:00:00Z', 1)
    expect(state.events.since('0', 10).map(({ id }) => id)).toEqual(['3'])
    state.events.prune('2027-01-01T00:00:00Z', 10)
  }
  using state = open()
  expect(state.events.last()).toBe('3')
  expect(state.events.append(event('2026-01-04T00:00:00Z')).id).toBe('4')
})

test.each([
  ['overwritten by text', (path: string) => writeFileSync(path, 'not a database at all, but long enough to be read as one')],
  [
    'torn in the middle',
    (path: string) => {
      const bytes = readFileSync(path)
      bytes.fill(0x5a, 4096, bytes.length)
      writeFileSync(path, bytes)
    },
  ],
])('a database %s is set aside whole, reported, and never swept by until repaired', (_, damage) => {
  let id: string
  {
    using state = open()
    state.packages.put(record('a'))
    id = state.daemonId
  }
  damage(home().state)
  const damaged = readFileSync(home().state)
  {
    using state = open()
    expect(state.restored).toBe(true)
    expect(state.daemonId).toBe(id)
    expect(state.packages.list()).toEqual([])
  }
  const aside = readdirSync(root).filter((name) => /^state\.db\.damaged-2026-01-02T030405Z$/.test(name))
  expect(aside).toHaveLength(1)
  expect(readFileSync(join(root, aside[0] ?? ''))).toEqual(damaged)
  expect(logged.join()).toContain('damaged')
  {
    using state = open()
    expect(state.restored).toBe(true)
    state.markRepaired()
  }
  using state = open()
  expect(state.restored).toBe(false)
})

test('a database of a newer pkgd is refused and left alone', () => {
  open()[Symbol.dispose]()
  const database = new DatabaseSync(home().state)
  database.exec("INSERT INTO migrations VALUES (999, 'future', '2030')")
  database.close()
  expect(() => open()).toThrow(expect.objectContaining({ code: 'STATE_TOO_NEW' }))
  expect(readdirSync(root).some((name) => name.includes('damaged'))).toBe(false)
})

test('a home keeps its id; a copied one gets another and forgets the sandboxes', () => {
  const copy = `${root}-copy`
  try {
    let id: string
    {
      using state = open()
      id = state.daemonId
      expect(id).toMatch(/^[0-9a-f]{8}$/)
      state.packages.put(record('a'))
      state.sandboxes.put(sandbox('a'))
    }
    cpSync(root, copy, { recursive: true })
    {
      using state = open(copy)
      expect(state.daemonId).not.toBe(id)
      expect(state.packages.get('a')).toBeDefined()
      expect(state.sandboxes.list()).toEqual([])
    }
    using state = open()
    expect(state.daemonId).toBe(id)
    expect(state.sandboxes.list()).toHaveLength(1)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
})
