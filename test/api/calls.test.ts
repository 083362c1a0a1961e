import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDaemonBench, type DaemonBench } from './daemonUnderTest.ts'
import { tellingServer } from './tellingServer.ts'

const secret = 'sk-"4f9/very+secret"'

let bench: DaemonBench
beforeEach(() => {
  bench = createDaemonBench({ telling: tellingServer })
})
afterEach(() => bench[Symbol.dispose]())

const install = (when: string, more: object = {}) =>
  bench.call('POST', '/v1/packages?wait=true', {
    spec: bench.folder('telling', ['telling', when], more),
    secrets: { KEY: secret },
    consent: true,
    start: true,
  })

/** Everything that is shown, kept or logged of it, and not asked of the package itself. */
async function everythingTold(): Promise<string> {
  const paths = ['/v1/jobs', '/v1/events?follow=false&limit=1000', '/v1/packages/telling', '/v1/packages']
  const bodies = await Promise.all(paths.map(async (path) => (await bench.call('GET', path)).body))
  return [...bodies, ...bench.lines, readFileSync(join(bench.root, 'pkgd.lock'), 'utf8')].join('\n')
}

const forms = [secret, JSON.stringify(secret).slice(1, -1), JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1), 'very+secret']
const expectUntold = (text: string) => expect(forms.filter((form) => text.includes(form))).toEqual([])

test('a secret in an error of a running package is shown, kept and logged nowhere', async () => {
  await using _daemon = await bench.open()
  expect((await install('serve')).status).toBe(200)
  const failed = await bench.call('POST', '/v1/tools/call', { package: 'telling', tool: 'fail' })
  expect([failed.status, failed.json()]).toMatchObject([
    502,
    { code: 'UPSTREAM_ERROR', detail: 'telling answered tools/call with an error: cannot log in with [secret] (-32000)' },
  ])
  const crashed = await bench.call('POST', '/v1/tools/call', { package: 'telling', tool: 'exit' })
  expect(crashed.json()).toMatchObject({ code: 'PACKAGE_CRASHED' })
  expectUntold([failed.body, crashed.body, await everythingTold()].join('\n'))
  const line = bench.lines.find((each) => each.includes('cannot log in'))
  expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'info', code: 'UPSTREAM_ERROR' })
  expect(line).not.toContain('stack')
})

test.each([
  ['die', 'START_FAILED', 'it said: the key is [secret]'],
  ['refuse', 'PROTOCOL_ERROR', '[secret]'],
  ['garbage', 'PROTOCOL_ERROR', '.[secret]'],
  ['odd-version', 'PROTOCOL_ERROR', '[secret]'],
])('nor in what a start ends with: %s', async (when, code, said) => {
  await using _daemon = await bench.open()
  const answer = await install(when)
  expect([answer.status, answer.json<{ code: string }>().code]).toEqual([502, code])
  expect(answer.body).toContain(said.slice(0, 9))
  expectUntold([answer.body, await everythingTold()].join('\n'))
})

test('what was given for a sensitive entry of the configuration is a secret too', async () => {
  await using _daemon = await bench.open()
  const config = { key: { type: 'string', sensitive: true, env: 'KEY' } }
  const spec = bench.folder('telling', ['telling', 'serve'], { config })
  const answer = await bench.call('POST', '/v1/packages?wait=true', { spec, env: { key: secret }, consent: true, start: true })
  expect(answer.status).toBe(200)
  const failed = await bench.call('POST', '/v1/tools/call', { package: 'telling', tool: 'fail' })
  expect(failed.json<{ detail: string }>().detail).toContain('with [secret]')
  expectUntold([failed.body, await everythingTold()].join('\n'))
})

test('a result that is none of its method is the fault of the package, by name', async () => {
  await using _daemon = await bench.open()
  await install('serve')
  const answer = await bench.call('POST', '/v1/tools/call', { package: 'telling', tool: 'shapeless' })
  expect([answer.status, answer.json()]).toMatchObject([
    502,
    {
      code: 'PROTOCOL_ERROR',
      detail: expect.stringMatching(/^telling answered tools\/call .*"content"/),
      hint: expect.stringContaining('foo'),
    },
  ])
})

test('the timeout of a call covers the start that it waits for, and says what it waited for', async () => {
  await using _daemon = await bench.open()
  await install('serve', { start: 'on-demand' })
  expect((await bench.call('POST', '/v1/packages/telling/stop?wait=true')).status).toBe(200)
  const release = Promise.withResolvers<void>()
  bench.engine.before('launch', () => release.promise)
  void bench.call('POST', '/v1/packages/telling/start')
  await expect.poll(async () => (await bench.call('GET', '/v1/packages/telling')).json<{ state: string }>().state).toBe('starting')
  const early = await bench.call('POST', '/v1/tools/call', { package: 'telling', tool: 'slow', timeoutMs: 50 })
  expect([early.status, early.json()]).toMatchObject([
    504,
    { code: 'CALL_TIMEOUT', detail: 'tools/call of telling was not done within 50 ms: it was waiting for the package to run' },
  ])
  release.resolve()
  await expect.poll(async () => (await bench.call('GET', '/v1/packages/telling')).json<{ state: string }>().state).toBe('running')
  const late = await bench.call('POST', '/v1/tools/call', { package: 'telling', tool: 'slow', timeoutMs: 50 })
  expect(late.json()).toMatchObject({ code: 'CALL_TIMEOUT', detail: expect.stringContaining('it was waiting for its answer') })
})
