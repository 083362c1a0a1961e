import { expect, test } from 'vitest'
import { canHappen, listTransitions, toNextState } from '../../../../daemon/lifecycle/packageState.ts'

const edges = () => listTransitions().map(({ from, event, to }) => `${from} ${event} ${to}`)

test('only what runs can crash, freeze or be stopped gently', () => {
  const of = (event: string) =>
    edges()
      .filter((edge) => edge.split(' ')[1] === event)
      .map((edge) => edge.split(' ')[0])
  expect(of('fail')).toEqual(['starting', 'running', 'frozen'])
  expect(of('freeze')).toEqual(['running'])
  expect(of('thaw')).toEqual(['frozen'])
  expect(of('ready')).toEqual(['starting'])
  expect(of('start')).toEqual(['stopped', 'asleep', 'backoff', 'failed'])
})

test('a start is the only way to starting, and running is reached by readiness, adoption and thawing alone', () => {
  const into = (state: string) =>
    new Set(
      listTransitions()
        .filter(({ to, from }) => to === state && from !== state)
        .map(({ event }) => event),
    )
  expect(into('starting')).toEqual(new Set(['start']))
  expect(into('running')).toEqual(new Set(['ready', 'adopt', 'thaw']))
})

test('every state can be left and every state is reached', () => {
  const states = ['stopped', 'asleep', 'starting', 'running', 'frozen', 'backoff', 'stopping', 'failed'] as const
  for (const state of states) {
    expect(listTransitions().some(({ from, to }) => from === state && to !== state)).toBe(true)
    expect(listTransitions().some(({ from, to }) => to === state && from !== state)).toBe(true)
  }
})

test('what may not happen is an error that names both', () => {
  expect(canHappen('stopped', 'ready')).toBe(false)
  expect(() => toNextState('stopped', 'ready')).toThrow(/stopped cannot ready/)
})
