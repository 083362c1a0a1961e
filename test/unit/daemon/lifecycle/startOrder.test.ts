import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runInOrder, toStartOrder, toStopOrder } from '../../../../daemon/lifecycle/startOrder.ts'

const needs = new Map([
  ['ui', ['api', 'auth']],
  ['api', ['db']],
  ['auth', ['db']],
  ['db', []],
  ['lone', ['absent']],
])

test.each([
  [['ui'], ['db', 'api', 'auth', 'ui']],
  [['lone'], ['lone']],
  [
    ['auth', 'api'],
    ['db', 'auth', 'api'],
  ],
  [['absent'], []],
])('to start %j: %j', (ids, order) => {
  expect(toStartOrder(ids, needs)).toEqual(order)
})

test.each([
  ['db', ['ui', 'auth', 'api', 'db'].sort()],
  ['api', ['api', 'ui']],
  ['ui', ['ui']],
])('to stop %s: %j', (id, all) => {
  const order = toStopOrder(id, needs)
  expect([...order].sort()).toEqual(all)
  expect(order.at(-1)).toBe(id)
})

test('a cycle is cut and everyone is in the order once', () => {
  const round = new Map([
    ['a', ['b']],
    ['b', ['a']],
  ])
  expect(toStartOrder(['a'], round)).toEqual(['b', 'a'])
  expect(toStopOrder('a', round).sort()).toEqual(['a', 'b'])
})

const graphs = fc.array(fc.array(fc.nat(9), { maxLength: 4 }), { minLength: 1, maxLength: 10 }).map(
  // Only what stands before may be needed: no cycles.
  (rows) => new Map(rows.map((row, n) => [`p${n}`, [...new Set(row.filter((other) => other < n))].map((other) => `p${other}`)])),
)

test('each stands after what it needs; starts and stops are mirrored', () => {
  fc.assert(
    fc.property(graphs, (graph) => {
      const order = toStartOrder(graph.keys(), graph)
      expect(new Set(order).size).toBe(graph.size)
      for (const [id, needed] of graph) for (const other of needed) expect(order.indexOf(other)).toBeLessThan(order.indexOf(id))
      for (const id of graph.keys()) {
        const stops = toStopOrder(id, graph)
        for (const each of stops)
          for (const other of graph.get(each) ?? []) {
            if (stops.includes(other)) expect(stops.indexOf(each)).toBeLessThan(stops.indexOf(other))
          }
      }
    }),
  )
})

test('a failure holds back those who need it and nobody else', async () => {
  await fc.assert(
    fc.asyncProperty(graphs, fc.nat(9), async (graph, broken) => {
      const done: string[] = []
      const outcomes = await runInOrder(
        toStartOrder(graph.keys(), graph),
        (id) => graph.get(id) ?? [],
        async (id) => {
          for (const needed of graph.get(id) ?? []) expect(done).toContain(needed)
          if (id === `p${broken}`) throw new Error('broken')
          done.push(id)
        },
      )
      const hit = new Set(toStopOrder(`p${broken}`, graph))
      for (const [id, outcome] of outcomes) {
        if (id === `p${broken}`) expect(outcome.kind).toBe('failed')
        else if (hit.has(id)) expect(outcome).toEqual({ kind: 'held', by: `p${broken}` })
        else expect(outcome.kind).toBe('done')
      }
    }),
  )
})
