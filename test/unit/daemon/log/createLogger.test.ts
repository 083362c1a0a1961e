import { expect, test } from 'vitest'
import { createLogger, type LogThreshold } from '../../../../daemon/log/createLogger.ts'

const create = (threshold: LogThreshold, json: boolean) => {
  const lines: string[] = []
  return { log: createLogger({ threshold, json, write: (line) => lines.push(line) }), lines }
}

test('JSON lines: level by name, time, fields, and an error with its whole cause', () => {
  const { log, lines } = create('info', true)
  log.debug('hidden')
  log.child({ part: 'api' }).error('it failed', { error: new Error('outer', { cause: new Error('inner') }), n: 1 })
  expect(lines).toHaveLength(1)
  const line = JSON.parse(lines[0] ?? '')
  expect(line).toMatchObject({ level: 'error', part: 'api', msg: 'it failed', n: 1, error: { message: 'outer' } })
  expect(JSON.stringify(line.error)).toContain('inner')
  expect(Number.isNaN(Date.parse(line.time))).toBe(false)
  expect(lines[0]?.endsWith('}\n')).toBe(true)
})

test('lines for people', () => {
  const { log, lines } = create('debug', false)
  log.warn('careful', { code: 'X', list: [1], error: new Error('why') })
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d WARN {2}careful code=X list=\[1\]\n {2}Error: why\n/)
})

test('a new threshold counts for the loggers that were made from it, too', () => {
  const { log, lines } = create('silent', true)
  const child = log.child({ part: 'a' }).child({ more: 'b' })
  child.error('hidden')
  log.setThreshold('debug')
  child.debug('shown')
  log.debug('shown')
  log.setThreshold('silent')
  child.error('hidden')
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['shown', 'shown'])
})
