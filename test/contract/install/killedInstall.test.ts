import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readLockfile } from '../../../registry/lockfile/lockfileOnDisk.ts'
import { writePackage } from './folderPackage.ts'
import { snapshotHome } from './homeSnapshot.ts'
import { jobContext, openParts, requestOf } from './openParts.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pkgd-killed-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** Runs a daemon that dies at the nth write; true when it did die. */
async function installAndDie(home: string, spec: string, nth: number, when: string): Promise<boolean> {
  const script = join(import.meta.dirname, 'installAndDie.ts')
  const child = spawn(process.execPath, [script, home, spec, String(nth), when], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code, signal] = await once(child, 'close')
  if (signal !== 'SIGKILL' && code !== 0) throw new Error(said)
  return signal === 'SIGKILL'
}

describe('a daemon that is killed while it installs a new version', () => {
  test('leaves at every point either the old state or the new one, and nothing besides, once the next one has started', {
    timeout: 120_000,
  }, async () => {
    const old = await writePackage(join(root, 'old'), { id: 'weather', version: '1.0.0' })
    const next = await writePackage(
      join(root, 'next'),
      { id: 'weather', version: '2.0.0' },
      { 'server.mjs': '// two\n', 'lib/a.mjs': '// a\n' },
    )
    const home = join(root, 'home')
    const states: Record<string, unknown> = {}
    {
      await using parts = await openParts(home)
      await parts.installer.install(requestOf(old), jobContext())
      states['1.0.0'] = snapshotHome(home, parts.state)
    }
    const seen = new Set<string>()
    let survived = 0
    for (let nth = 1; survived < 2; nth++) {
      for (const when of ['before', 'after']) {
        const copy = join(root, `home-${nth}-${when}`)
        await cp(home, copy, { recursive: true, preserveTimestamps: true })
        const killed = await installAndDie(copy, next, nth, when)
        if (!killed) survived += 1
        await using parts = await openParts(copy)
        const record = parts.state.packages.get('weather')
        const version = record?.version ?? 'none'
        seen.add(version)
        const lockfile = await readLockfile(parts.home.lockfile)
        expect(lockfile.packages.weather).toMatchObject({ version, tree: record?.tree })
        expect(await parts.store.list()).toEqual([record?.tree])
        expect(await parts.store.verify(record?.tree ?? '', 'full')).toEqual([])
        const snapshot = snapshotHome(copy, parts.state)
        if (version === '1.0.0') expect(snapshot).toEqual(states['1.0.0'])
        expect(snapshot).toMatchObject({ sagas: [] })
        const leftovers = Object.keys((snapshot as { files: object }).files).filter((path) => /^(tmp|store\/staging)\/|\.old$/.test(path))
        expect(leftovers).toEqual([])
        // It can be done again.
        const { package: again } = await parts.installer.install(requestOf(next, { consent: true }), jobContext())
        expect(again.record.version).toBe('2.0.0')
      }
      expect(nth).toBeLessThan(30)
    }
    expect([...seen].sort()).toEqual(['1.0.0', '2.0.0'])
  })
})
