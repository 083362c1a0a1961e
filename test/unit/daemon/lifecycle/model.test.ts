import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Bench, createBench, type Daemon } from './bench.ts'
import { settled } from './manualClock.ts'

type Act =
  | { readonly kind: 'start' | 'stop' | 'restart' | 'call' | 'kill' | 'remove' | 'freeze' | 'crash-start'; readonly id: string }
  | { readonly kind: 'lose'; readonly killing: boolean }
  | { readonly kind: 'find' | 'daemon-dies' | 'daemon-ends' }
  | { readonly kind: 'wait'; readonly ms: number }

const ids = ['db', 'api', 'nap'] as const
const id = fc.constantFrom(...ids)
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constantFrom('start' as const, 'stop' as const, 'restart' as const, 'call' as const), id }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('kill' as const, 'remove' as const, 'freeze' as const), id }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lose' as const), killing: fc.boolean() }) },
  { weight: 3, arbitrary: fc.constantFrom<Act>({ kind: 'find' }, { kind: 'daemon-dies' }, { kind: 'daemon-ends' }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(0, 100, 1_000, 70_000) }) },
)

const context = { signal: new AbortController().signal, progress: () => undefined }
const ignored = (work: Promise<unknown>) => void work.catch(() => undefined)

async function perform(bench: Bench, daemon: Daemon, what: Act): Promise<Daemon> {
  const { engine, clock } = bench
  const sandboxOf = (of: string) => bench.running(of)[0]
  switch (what.kind) {
    case 'start':
    case 'stop':
    case 'restart':
      ignored(daemon.lifecycle[what.kind](what.id, context))
      break
    case 'call':
      ignored(daemon.lifecycle.ensureRunning(what.id, context.signal))
      break
    case 'kill':
    case 'remove':
    case 'freeze': {
      const sandbox = sandboxOf(what.id)
      if (sandbox) engine[what.kind](sandbox)
      break
    }
    case 'lose':
      engine.lose('by the model', { killing: what.killing })
      break
    case 'find':
      engine.find()
      break
    case 'daemon-dies':
    case 'daemon-ends': {
      if (what.kind === 'daemon-ends') await Promise.race([daemon.lifecycle[Symbol.asyncDispose](), clock.advance(60_000)])
      bench.kill()
      const next = bench.boot()
      ignored(next.lifecycle.open())
      return next
    }
    case 'wait':
      await clock.advance(what.ms)
      break
  }
  return daemon
}

/** What must hold at every moment. */
function check(bench: Bench) {
  for (const each of ids) expect(bench.running(each).length, `sandboxes of ${each}`).toBeLessThanOrEqual(1)
}

/** What must hold when everything has calmed down. */
function checkCalm(bench: Bench, daemon: Daemon) {
  const known = bench.state.sandboxes.list().map((record) => record.handle.id)
  expect([...bench.engine.sandboxes.keys()].sort(), 'every sandbox is known and every known one is there').toEqual(known.sort())
  for (const each of ids) {
    const { status, sandbox } = daemon.lifecycle.get(each)
    expect(['stopped', 'asleep', 'running', 'frozen', 'failed'], `${each} is ${status.state}`).toContain(status.state)
    const up = status.state === 'running' || status.state === 'frozen'
    expect(bench.running(each)).toEqual(up && sandbox ? [sandbox.handle.id] : [])
    if (status.desired === 'stopped') expect(up, `${each} was stopped and runs`).toBe(false)
  }
}

test('whatever happens, there is at most one sandbox a package, none is lost, wishes are respected and no lock is kept', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 1, maxLength: 25 }),
      fc.array(fc.boolean(), { minLength: 25, maxLength: 25 }),
      async (acts, pauses) => {
        await using bench = createBench()
        bench.install('db')
        bench.install('api', { needs: ['db'] })
        bench.install('nap', { start: { mode: 'on-demand', idleTimeoutMs: 30_000 } })
        let daemon = bench.boot()
        await daemon.lifecycle.open()
        for (const [n, what] of acts.entries()) {
          daemon = await perform(bench, daemon, what)
          if (pauses[n]) await settled()
          check(bench)
        }
        bench.engine.find()
        await bench.clock.advance(900_000)
        check(bench)
        checkCalm(bench, daemon)
        // Nothing is stuck: whatever it went through, it can be started and stopped by hand.
        for (const each of ids) {
          const view = daemon.lifecycle.start(each, context)
          await bench.clock.advance(1_000)
          expect((await view).status.state, `${each} starts`).toBe('running')
        }
        for (const each of ids) await daemon.lifecycle.stop(each, context)
        expect(bench.engine.sandboxes.size).toBe(0)
      },
    ),
    { numRuns: 100, endOnFailure: true },
  )
}, 60_000)
