import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { createMcpHarness } from '../../fixtures/servers/mcpHarness.ts'
import { serverCommand, startProgram } from '../../fixtures/servers/startProgram.ts'

const signal = AbortSignal.timeout(60_000)

/** Lets a daemon connect to the program, kills it in the middle of its calls, and returns the session that it had stored. */
async function liveAndDie(directory: string, ...flags: string[]): Promise<unknown> {
  const daemon = spawn(process.execPath, [join(import.meta.dirname, 'daemonLife.ts'), directory, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // What it leaves behind goes with the program's own directory.
    env: { ...process.env, TMPDIR: dirname(directory) },
  })
  const [line] = await once(createInterface({ input: daemon.stdout }), 'line')
  daemon.kill('SIGKILL')
  await once(daemon, 'exit')
  return JSON.parse(String(line))
}

test.each([
  ['SDK 2, legacy', serverCommand('sdk2'), []],
  ['SDK 2, modern', serverCommand('sdk2', '--modern-only'), []],
  ['bare wire, legacy', serverCommand('plain'), []],
  ['bare wire, modern', serverCommand('plain', '--era', 'modern'), []],
  ['bare wire, half a line in its stdin', serverCommand('plain'), ['--half-line']],
  ['SDK 2, half a line in its stdin', serverCommand('sdk2'), ['--half-line']],
])('a server on %s goes on with the next daemon, in the same process and session', async (_name, command, flags) => {
  await using program = await startProgram(command)
  let session = await liveAndDie(program.directory, ...flags)
  const all = createMcpHarness({ idPrefix: 'next-life-' })
  onTestFinished(() => all[Symbol.asyncDispose]())
  for (let life = 0; life < 2; life++) {
    const adopted = await all.connect('demo', program, { session })
    const { content } = await all.mcp.service.callTool('demo', 'facts', {}, { signal })
    const facts = JSON.parse(content[0]?.type === 'text' ? content[0].text : '')
    expect(facts.pid).toBe(program.pid)
    if ('initialized' in facts) expect(facts.initialized).toBe(command.includes('modern') ? 0 : 1)
    await all.mcp.service.callTool('demo', 'grow', {}, { signal })
    await expect.poll(() => all.mcp.service.tools('demo').some((tool) => tool.name === 'grown'), { timeout: 5_000 }).toBe(true)
    session = adopted.saved()
    await adopted.session.close(new Error('This life is over'))
    if (command.some((arg) => arg.includes('sdk2'))) break
  }
})

test('a session that cannot be read, or that the server does not answer for, is refused', async () => {
  const all = createMcpHarness()
  onTestFinished(() => all[Symbol.asyncDispose]())
  await using program = await startProgram(serverCommand('plain', '--hang'))
  await expect(all.connect('demo', program, { session: { era: 'future' } })).rejects.toMatchObject({ code: 'PROTOCOL_ERROR' })
  const session = { era: 'legacy', version: '2025-11-25', capabilities: {} }
  await expect(all.connect('demo', program, { session, signal: AbortSignal.timeout(300) })).rejects.toMatchObject({
    code: 'HANDSHAKE_TIMEOUT',
  })
})
