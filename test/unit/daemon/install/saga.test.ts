import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Logger } from '../../../../daemon/core/ports.ts'
import { recoverSagas, runSaga, type SagaData, type SagaDeps, type SagaJournal } from '../../../../daemon/install/saga.ts'
import type { SagaRecord } from '../../../../daemon/store/state.ts'

/** A world of named things, and effects that put one back as it was. */
type World = Map<string, number>
type Effect = { readonly name: string; readonly before: number | null }

class Killed extends Error {}

const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

/** The journal survives a `kill`; what is written after it is lost, as the process no longer runs. */
function createJournal(records = new Map<string, string>()) {
  let dead = false
  const journal: SagaJournal & { kill(): void; records: Map<string, string> } = {
    records,
    kill() {
      dead = true
    },
    put(record) {
      if (dead) throw new Killed()
      records.set(record.jobId, JSON.stringify(record))
    },
    remove(jobId) {
      if (dead) throw new Killed()
      records.delete(jobId)
    },
    list: () => [...records.values()].map((text): SagaRecord => JSON.parse(text)),
    transaction(body) {
      const before = new Map(records)
      try {
        return body()
      } catch (error) {
        records.clear()
        for (const [key, value] of before) records.set(key, value)
        throw error
      }
    },
  }
  return journal
}

function createDeps(world: World, journal = createJournal(), options: { dead?: () => boolean; failUndo?: string } = {}) {
  const undone: string[] = []
  const run = async (effect: Effect) => {
    if (options.dead?.()) throw new Killed()
    if (options.failUndo === effect.name) throw new Error('cannot be undone')
    undone.push(effect.name)
    if (effect.before === null) world.delete(effect.name)
    else world.set(effect.name, effect.before)
  }
  const deps: SagaDeps<Effect, Effect> = {
    journal,
    logger: quiet,
    effects: { undo: run, finish: run, parse: (data) => data as SagaData<Effect, Effect> },
  }
  return { deps, undone }
}

const identity = { jobId: 'job-1', kind: 'install' }
const steps = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), value: fc.integer() }), { minLength: 1, maxLength: 8 })
const start = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer()).map((entries) => new Map(Object.entries(entries)))

const toEffect = (world: World, name: string): Effect => ({ name, before: world.get(name) ?? null })

describe('a saga', () => {
  test('that fails at any step leaves everything as it was, and no journal entry', async () => {
    await fc.assert(
      fc.asyncProperty(steps, start, fc.nat(), fc.boolean(), async (plan, initial, pick, afterDeed) => {
        const world = new Map(initial)
        const failing = pick % plan.length
        const { deps } = createDeps(world)
        const saga = runSaga(deps, identity, async (saga) => {
          for (const [index, { name, value }] of plan.entries()) {
            await saga.step(name, [toEffect(world, name)], async () => {
              if (index === failing && !afterDeed) throw new Error('broken')
              world.set(name, value)
              if (index === failing) throw new Error('broken')
            })
          }
        })
        await expect(saga).rejects.toThrow('broken')
        expect(world).toEqual(initial)
        expect(deps.journal.list()).toEqual([])
      }),
    )
  })

  test('whose process dies at any step is undone by the next one', async () => {
    await fc.assert(
      fc.asyncProperty(steps, start, fc.nat(), fc.constantFrom('before', 'after'), async (plan, initial, pick, when) => {
        const world = new Map(initial)
        const dying = pick % plan.length
        const journal = createJournal()
        let dead = false
        const die = () => {
          dead = true
          journal.kill()
          throw new Killed()
        }
        const first = createDeps(world, journal, { dead: () => dead })
        const saga = runSaga(first.deps, identity, async (saga) => {
          for (const [index, { name, value }] of plan.entries()) {
            await saga.step(name, [toEffect(world, name)], async () => {
              if (index === dying && when === 'before') die()
              world.set(name, value)
              if (index === dying) die()
            })
          }
        })
        await expect(saga).rejects.toThrow(Killed)
        const next = createDeps(world, createJournal(journal.records))
        expect(await recoverSagas(next.deps)).toEqual(['job-1'])
        expect(world).toEqual(initial)
        expect(next.deps.journal.list()).toEqual([])
      }),
    )
  })

  test('undoes in reverse, each effect once', async () => {
    const { deps, undone } = createDeps(new Map())
    const saga = runSaga(deps, identity, async (saga) => {
      await saga.step('one', [{ name: 'a', before: null }], async () => undefined)
      saga.note('two', { name: 'b', before: null })
      await saga.step(
        'three',
        [
          { name: 'c', before: null },
          { name: 'd', before: null },
        ],
        async () => Promise.reject(new Error('no')),
      )
    })
    await expect(saga).rejects.toThrow('no')
    expect(undone).toEqual(['d', 'c', 'b', 'a'])
  })

  test('keeps the cause when an undo fails too, undoes the rest, and leaves the journal for the next start', async () => {
    const world: World = new Map([
      ['a', 2],
      ['b', 2],
    ])
    const { deps, undone } = createDeps(world, createJournal(), { failUndo: 'b' })
    const saga = runSaga(deps, identity, async (saga) => {
      await saga.step('one', [{ name: 'a', before: 1 }], async () => undefined)
      await saga.step('two', [{ name: 'b', before: 1 }], async () => Promise.reject(new Error('the cause')))
    })
    await expect(saga).rejects.toThrow('the cause')
    expect(undone).toEqual(['a'])
    expect(deps.journal.list()).toHaveLength(1)
    const next = createDeps(world, deps.journal as ReturnType<typeof createJournal>)
    expect(await recoverSagas(next.deps)).toEqual(['job-1'])
    expect(world).toEqual(
      new Map([
        ['a', 1],
        ['b', 1],
      ]),
    )
  })

  test('that has committed is never undone: what is left is finished, now or by the next process', async () => {
    const world: World = new Map([['old', 1]])
    const journal = createJournal()
    let dead = false
    const { deps } = createDeps(world, journal, { dead: () => dead })
    const saga = runSaga(deps, identity, async (saga) => {
      await saga.step('one', [{ name: 'new', before: null }], async () => world.set('new', 1))
      saga.commit(() => world.set('record', 1), [{ name: 'old', before: null }])
      dead = true
      journal.kill()
      throw new Killed()
    })
    await expect(saga).rejects.toThrow(Killed)
    expect(world).toEqual(
      new Map([
        ['old', 1],
        ['new', 1],
        ['record', 1],
      ]),
    )
    expect(await recoverSagas(createDeps(world, createJournal(journal.records)).deps)).toEqual(['job-1'])
    expect(world).toEqual(
      new Map([
        ['new', 1],
        ['record', 1],
      ]),
    )
  })

  test('whose commit fails is undone', async () => {
    const world: World = new Map()
    const { deps } = createDeps(world)
    const saga = runSaga(deps, identity, async (saga) => {
      await saga.step('one', [{ name: 'a', before: null }], async () => world.set('a', 1))
      saga.commit(() => {
        throw new Error('disk full')
      }, [{ name: 'b', before: null }])
    })
    await expect(saga).rejects.toThrow('disk full')
    expect(world).toEqual(new Map())
    expect(deps.journal.list()).toEqual([])
  })

  test('an entry that cannot be read is left alone', async () => {
    const journal = createJournal()
    journal.put({ ...identity, step: 'x', data: 'not ours' })
    const { deps } = createDeps(new Map(), journal)
    expect(await recoverSagas({ ...deps, effects: { ...deps.effects, parse: () => undefined } })).toEqual([])
    expect(journal.list()).toHaveLength(1)
  })
})
