import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseServerSentEvents } from '../../cli/serverSentEvents.ts'
import { createDaemonBench, type DaemonBench } from './daemonUnderTest.ts'

let bench: DaemonBench
beforeEach(() => {
  bench = createDaemonBench()
})
afterEach(() => bench[Symbol.dispose]())

const mode = (name: string) => statSync(join(bench.root, name)).mode & 0o777

const install = async (id: string) => {
  const response = await bench.call('POST', '/v1/packages?wait=true', { spec: bench.folder(id), consent: true, start: true })
  expect([response.status, response.body]).toEqual([200, expect.stringContaining('"state":"succeeded"')])
}

test('a home is private, says where its daemon is, and is left clean', async () => {
  {
    await using daemon = await bench.open()
    expect([mode(''), mode('token'), mode('pkgd.sock'), mode('daemon.json'), mode('state.db')]).toEqual([0o700, 0o600, 0o600, 0o600, 0o600])
    const file = JSON.parse(readFileSync(join(bench.root, 'daemon.json'), 'utf8'))
    expect(file).toEqual({ pid: process.pid, url: daemon.url, version: '0.0.1', started_at: expect.any(String) })
    const health = await fetch(`${daemon.url}/health`)
    expect(await health.json()).toEqual({ status: 'ok', version: '0.0.1' })
    expect((await fetch(`${daemon.url}/v1/info`)).status).toBe(401)
    expect((await bench.call('GET', '/v1/info')).json()).toMatchObject({
      driver: { name: 'fake', state: 'ready' },
      counts: { packages: 0 },
    })
  }
  expect(existsSync(join(bench.root, 'daemon.json'))).toBe(false)
  expect(existsSync(join(bench.root, 'pkgd.sock'))).toBe(false)
})

test('install, start, call, events, and the next daemon goes on with the same sandbox', async () => {
  const call = () => bench.call('POST', '/v1/tools/call', { package: 'echo', tool: 'echo', arguments: { message: 'hi' } })
  let sandbox: string
  {
    await using _daemon = await bench.open()
    await install('echo')
    const tools = (await bench.call('GET', '/v1/tools')).json<{ package: string; name: string }[]>()
    expect(tools).toContainEqual(expect.objectContaining({ package: 'echo', name: 'echo' }))
    expect((await call()).body).toContain('hi')
    const view = (await bench.call('GET', '/v1/packages/echo')).json<{ state: string; sandbox: { id: string } }>()
    expect(view).toMatchObject({ state: 'running', limits: { asked: { pids: 128 }, effective: { pids: 128 } } })
    sandbox = view.sandbox.id
  }
  expect([...bench.engine.sandboxes.keys()]).toEqual([sandbox])
  await using _next = await bench.open()
  expect((await bench.call('GET', '/v1/packages/echo')).json()).toMatchObject({ state: 'running', sandbox: { id: sandbox } })
  expect((await call()).body).toContain('hi')
  const events = (await bench.call('GET', '/v1/events?follow=false&type=package.*&limit=1000')).json<{ type: string }[]>()
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['package.installed', 'package.state', 'package.adopted']))
})

test('an event stream goes on after the last id, and its reader can go at any time', async () => {
  await using _daemon = await bench.open()
  await install('echo')
  const all = (await bench.call('GET', '/v1/events?follow=false&limit=1000')).json<{ id: string }[]>()
  const response = await bench.stream('/v1/events', { 'last-event-id': String(all[1]?.id) })
  expect(response.headers['content-type']).toBe('text/event-stream')
  const ids: string[] = []
  for await (const event of parseServerSentEvents(response)) {
    expect(JSON.parse(event.data).id).toBe(event.id)
    ids.push(String(event.id))
    if (ids.length === all.length - 2) void bench.call('POST', '/v1/packages/echo/restart')
    if (JSON.parse(event.data).type === 'package.state' && JSON.parse(event.data).data.to === 'stopping') break
  }
  response.destroy()
  expect(ids.map(Number)).toEqual(Array.from(ids, (_, n) => n + 3))
  const wrong = await bench.call('GET', '/v1/events', undefined, { 'last-event-id': 'x' })
  expect(wrong.json()).toMatchObject({ code: 'USAGE', status: 400 })
})

test('streams and calls end when the daemon does', async () => {
  const daemon = await bench.open()
  const response = await bench.stream('/v1/events')
  const ended = (async () => {
    for await (const _ of parseServerSentEvents(response));
  })()
  await daemon[Symbol.asyncDispose]()
  await ended
})

test('two daemons on one home: the second is refused and named the first; afterwards the home is free', async () => {
  {
    await using _daemon = await bench.open()
    await expect(bench.open()).rejects.toMatchObject({
      code: 'DAEMON_ALREADY_RUNNING',
      message: expect.stringContaining(`pid ${process.pid}`),
    })
    expect((await bench.call('GET', '/v1/info')).status).toBe(200)
  }
  await using _next = await bench.open()
})

test('a port that is taken is an error that says by whom, and nothing stays open', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as { port: number }
    const failure = bench.open({ PKGD_PORT: String(port) })
    await expect(failure).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringMatching(new RegExp(`127.0.0.1:${port} is taken by pid ${process.pid} `)),
    })
    expect(existsSync(join(bench.root, 'daemon.json'))).toBe(false)
    await using _daemon = await bench.open()
  } finally {
    server.close()
  }
})

test.each([
  ['calls: { timeout: soon }', {}, 'CONFIG_INVALID', '/calls/timeout'],
  ['', { PKGD_DRIVER: 'dokcer' }, 'CONFIG_INVALID', 'PKGD_DRIVER'],
  ['', { PKGD_TOKEN: 'short' }, 'CONFIG_INVALID', 'PKGD_TOKEN'],
])('configuration %j with %j is %s', async (text, env, code, said) => {
  mkdirSync(bench.root, { recursive: true })
  writeFileSync(join(bench.root, 'pkgd.yaml'), text)
  await expect(bench.open(env)).rejects.toMatchObject({ code, message: expect.stringContaining(said) })
})

test('a damaged database is set aside, its sandboxes are left alone until the repair', async () => {
  {
    await using _daemon = await bench.open()
    await install('echo')
  }
  writeFileSync(join(bench.root, 'state.db'), 'this was a database once, and now it is anything but one')
  await using _next = await bench.open()
  expect(readdirSync(bench.root).some((name) => name.startsWith('state.db.damaged-'))).toBe(true)
  expect((await bench.call('GET', '/v1/packages')).json()).toEqual([])
  expect((await bench.call('GET', '/v1/info')).json()).toMatchObject({ restored: true })
  expect((await bench.call('GET', '/v1/doctor')).json()).toMatchObject({
    status: 'error',
    checks: expect.arrayContaining([expect.objectContaining({ id: 'state', status: 'error' })]),
  })
  expect(bench.engine.sandboxes.size).toBe(1)
  const repair = await bench.call('POST', '/v1/doctor/repair?wait=true')
  expect(repair.json<{ result: { repaired: string[] } }>().result.repaired).toHaveLength(1)
  expect(bench.engine.sandboxes.size).toBe(0)
  expect((await bench.call('GET', '/v1/info')).json()).toMatchObject({ restored: false })
})

test('a package that is not there, or does not start, is a problem with its own code', async () => {
  await using _daemon = await bench.open()
  await install('echo')
  const unknown = await bench.call('POST', '/v1/packages/ecoh/start?wait=true')
  expect([unknown.status, unknown.json()]).toMatchObject([404, { code: 'PACKAGE_NOT_FOUND', hint: expect.stringContaining('echo') }])
  const dies = await bench.call('POST', '/v1/packages?wait=true', { spec: bench.folder('dies', ['exit', '3']), consent: true, start: true })
  expect([dies.status, dies.json()]).toMatchObject([502, { code: 'START_FAILED' }])
  const stopped = await bench.call('POST', '/v1/tools/call', { package: 'dies', tool: 'x' })
  expect(stopped.status).toBeGreaterThanOrEqual(404)
  const none = await bench.call('POST', '/v1/packages?wait=true', { spec: join(bench.root, 'nothing-here') })
  expect([none.status, none.json()]).toMatchObject([404, { code: 'SOURCE_NOT_FOUND' }])
})

test('an engine that is gone makes the daemon degraded, and found again it is ready', async () => {
  await using _daemon = await bench.open()
  bench.engine.lose('it was stopped', { killing: false })
  expect((await bench.call('GET', '/v1/info')).status).toBe(200)
  bench.engine.find()
  expect((await bench.call('GET', '/v1/info')).json()).toMatchObject({ driver: { state: 'ready' } })
})

test('events of others are stored and told under a source of the daemon’s giving; its own types are refused', async () => {
  await using _daemon = await bench.open()
  const given = [{ type: 'acme.deployed', subject: 'x', data: { n: 1 }, source: '/forged', id: '999999' }, { type: 'acme.done' }]
  const answer = await bench.call('POST', '/v1/events', given)
  expect(answer.json()).toMatchObject([
    { type: 'acme.deployed', subject: 'x', data: { n: 1 }, source: expect.stringMatching(/^\/pkgd\/[0-9a-f]{8}\/api$/) },
    { type: 'acme.done', data: null },
  ])
  expect((await bench.call('GET', '/v1/events?follow=false&type=acme.*')).json()).toEqual(answer.json())
  for (const type of ['package.state', 'job.updated', 'tool.called', 'nodots', '*']) {
    const refused = await bench.call('POST', '/v1/events', { type })
    expect([type, refused.status, refused.json<{ code: string }>().code]).toEqual([type, 400, 'USAGE'])
  }
})

const host = 'Host: localhost\r\n'

test.each([
  ['a path that is no UTF-8', `GET /v1/packages/%ff HTTP/1.1\r\n${host}Authorization: TOKEN\r\n\r\n`, 400, 'USAGE'],
  ['a path that is no UTF-8, without a token', `GET /v1/packages/%ff HTTP/1.1\r\n${host}\r\n`, 401, 'UNAUTHORIZED'],
  [
    'a path that is no UTF-8, for another host',
    'GET /%ff HTTP/1.1\r\nHost: evil.example\r\nAuthorization: TOKEN\r\n\r\n',
    403,
    'HOST_FORBIDDEN',
  ],
  ['a name without end', `GET /v1/jobs/${'x'.repeat(300)} HTTP/1.1\r\n${host}Authorization: TOKEN\r\n\r\n`, 400, 'USAGE'],
  ['no Host', 'GET /health HTTP/1.1\r\n\r\n', 403, 'HOST_FORBIDDEN'],
  ['a line that is no request', 'hello there\r\n\r\n', 400, 'USAGE'],
  ['headers without end', `GET /health HTTP/1.1\r\n${host}X: ${'x'.repeat(40_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
])('%s is answered with a problem', async (_, text, status, code) => {
  await using _daemon = await bench.open()
  const token = readFileSync(join(bench.root, 'token'), 'utf8').trim()
  const socket = connect(join(bench.root, 'pkgd.sock'))
  socket.write(text.replace('TOKEN', `Bearer ${token}`).replace('HTTP/1.1\r\n', 'HTTP/1.1\r\nConnection: close\r\n'))
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(head).toMatch(/content-type: application\/problem\+json/i)
  expect(head).toMatch(/connection: close/i)
  expect(JSON.parse(body)).toMatchObject({ status, code })
})

const linksOf = (header: string | string[] | undefined): Record<string, string> =>
  Object.fromEntries([...String(header).matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel, url]))

test('the array of events is the last page, and pages lead back to the first and forth again', async () => {
  await using _daemon = await bench.open()
  const given = Array.from({ length: 7 }, (_, n) => ({ type: `acme.e${n}` }))
  await bench.call('POST', '/v1/events', given)
  const read = async (url: string) => {
    const answer = await bench.call('GET', url)
    return {
      types: answer
        .json<{ type: string }[]>()
        .map(({ type }) => type.slice(-1))
        .join(''),
      ...linksOf(answer.headers.link),
    }
  }
  const last: Record<string, string | undefined> = await read('/v1/events?follow=false&type=acme.*&limit=3')
  expect(last).toMatchObject({ types: '456', prev: expect.stringContaining('type=acme.') })
  expect(last.next).toBeUndefined()
  const middle: Record<string, string | undefined> = await read(String(last.prev))
  expect(middle.types).toBe('123')
  const first: Record<string, string | undefined> = await read(String(middle.prev))
  expect([first.types, first.prev]).toEqual(['0', undefined])
  expect((await read(String(middle.next))).types).toBe('456')
  const batch = await bench.call('POST', '/v1/events', [{ type: 'acme.x' }, { type: 'job.updated' }])
  expect(batch.status).toBe(400)
  expect((await read('/v1/events?follow=false&type=acme.x')).types).toBe('')
})

test.each([
  ['application/cloudevents+json', { specversion: '1.0', id: 'a', source: '/mine', type: 'acme.done', data: 1 }],
  ['application/cloudevents-batch+json; charset=utf-8', [{ specversion: '1.0', id: 'a', source: '/mine', type: 'acme.done' }]],
])('events come as %s too', async (type, body) => {
  await using _daemon = await bench.open()
  const answer = await bench.call('POST', '/v1/events', body, { 'content-type': type })
  expect([answer.status, answer.json()]).toMatchObject([200, [{ type: 'acme.done' }]])
})

test('an id from before a database was lost is older than all that came after it; one that never was is told', async () => {
  let lost: string
  {
    await using _daemon = await bench.open()
    const [event] = (await bench.call('POST', '/v1/events', { type: 'acme.old' })).json<{ id: string }[]>()
    lost = String(event?.id)
  }
  writeFileSync(join(bench.root, 'state.db'), 'this was a database once, and now it is anything but one')
  await using _next = await bench.open()
  const [fresh] = (await bench.call('POST', '/v1/events', { type: 'acme.new' })).json<{ id: string }[]>()
  expect(Number(fresh?.id)).toBeGreaterThan(Number(lost))
  const after = await bench.call('GET', `/v1/events?follow=false&type=acme.*&after=${lost}`)
  expect(after.json()).toMatchObject([{ type: 'acme.new' }])
  expect(String(after.headers['x-pkgd-warnings'])).toContain(`Events after ${lost} are missing`)

  const unknown = `${fresh?.id}0`
  expect((await bench.call('GET', `/v1/events?follow=false&after=${unknown}`)).json()).toMatchObject({ code: 'USAGE', status: 400 })
  const response = await bench.stream('/v1/events?type=acme.*', { 'last-event-id': unknown })
  const told: string[] = []
  for await (const { event, data } of parseServerSentEvents(response)) {
    told.push(event === 'gap' ? `${event} ${JSON.parse(data).reason}` : JSON.parse(data).type)
    if (told.length === 2) break
  }
  expect(told).toEqual(['gap unknown', 'acme.new'])
})
