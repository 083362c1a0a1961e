import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missing } from '../provision/requirements.ts'
import { createPackageFolder, nodeServer, type PackageFolder, serverProgram } from './packages.ts'
import { createTestHome, type TestHome } from './testHome.ts'

const reason = await missing('docker')

describe.skipIf(reason)(`calls that cannot work [${reason}]`, () => {
  let home: TestHome
  let folder: PackageFolder
  beforeAll(async () => {
    home = await createTestHome({ driver: 'docker' })
    folder = await createPackageFolder()
    const onCall = `if (params.arguments.message === 'crash') process.exit(4)
    if (params.arguments.message === 'hang') continue`
    await home.pkg(['install', await folder.write(nodeServer('calls'), { 'server.mjs': serverProgram({ onCall }) }), '--start'])
    await home.pkg(['install', await folder.write(nodeServer('resting'), { 'server.mjs': serverProgram() })])
  })
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  it.each([
    ['wrong arguments', 'calls/echo', '{"message":7}', 'ARGUMENTS_INVALID', 2, /\/message/, 400],
    ['a missing argument', 'calls/echo', '{}', 'ARGUMENTS_INVALID', 2, /message/, 400],
    ['a tool that does not exist', 'calls/ehco', '{"message":"x"}', 'TOOL_NOT_FOUND', 4, /hint: .*echo/, 404],
    ['a package that does not exist', 'cals/echo', '{"message":"x"}', 'PACKAGE_NOT_FOUND', 4, /hint: .*calls/, 404],
    ['a package that is not running', 'resting/echo', '{"message":"x"}', 'NOT_RUNNING', 1, /hint: .*pkg start resting/, 409],
  ] as const)('%s', async (_, name, args, code, exit, says, status) => {
    const called = await home.pkg(['call', name, args])
    expect(called.stdout).toBe('')
    expect(called.stderr).toContain(`error ${code}: `)
    expect(called.stderr).toMatch(says)
    expect(called.exitCode).toBe(exit)

    const [packageId, tool] = name.split('/')
    const overRest = await home.rest<{ code: string }>('POST', '/v1/tools/call', { package: packageId, tool, arguments: JSON.parse(args) })
    expect(overRest.status).toBe(status)
    expect(overRest.headers['content-type']).toContain('application/problem+json')
    expect(overRest.body.code).toBe(code)
  })

  it('arguments that are not JSON never reach the daemon', async () => {
    const called = await home.pkg(['call', 'calls/echo', '{message: x}'])
    expect(called).toMatchObject({ exitCode: 2, stdout: '' })
    expect(called.stderr).toContain('error USAGE: The arguments are not JSON')
  })

  it('a call that takes too long is cancelled, and the next one works', async () => {
    const called = await home.pkg(['call', 'calls/echo', '{"message":"hang"}', '--timeout', '0.3'])
    expect(called.stderr).toContain('error CALL_TIMEOUT: ')
    expect(called.exitCode).toBe(7)
    expect((await home.pkg(['call', 'calls/echo', '{"message":"still here"}'])).stdout).toBe('still here\n')
  })

  it('a crash fails its call at once, and the package is back', async () => {
    const called = await home.pkg(['call', 'calls/echo', '{"message":"crash"}'])
    expect(called.stderr).toContain('error PACKAGE_CRASHED: ')
    expect(called.stderr).toMatch(/4/)
    expect(called.exitCode).toBe(1)
    for await (const event of statesAfterCrash(home)) if (event.to === 'running') break
    expect((await home.pkg(['call', 'calls/echo', '{"message":"back"}'])).stdout).toBe('back\n')
  })
})

/** The states of the package since it first left `running`, live. */
async function* statesAfterCrash(home: TestHome): AsyncIterable<{ to: string }> {
  const { createClient } = await import('../../cli/client.ts')
  const { locateHome } = await import('../../daemon/core/home.ts')
  const client = createClient({ home: locateHome({ PKGD_HOME: home.path }), url: undefined, token: undefined, autostart: null })
  const stop = new AbortController()
  let crashed = false
  try {
    for await (const event of client.stream<{ subject: string; data: { from: string; to: string } }>(
      '/v1/events?type=package.state&after=0',
      { signal: stop.signal },
    )) {
      if (event.subject !== 'calls') continue
      if (event.data.from === 'running') crashed = true
      if (crashed) yield event.data
    }
  } finally {
    stop.abort()
  }
}
