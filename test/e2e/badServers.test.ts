import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Problem } from '../../daemon/api/schemas/common.ts'
import { missing } from '../provision/requirements.ts'
import { createPackageFolder, nodeServer, type PackageFolder, serverProgram } from './packages.ts'
import { createTestHome, type TestHome } from './testHome.ts'

const reason = await missing('docker')
const config = 'lifecycle:\n  handshake_timeout: 3s\n'

interface Case {
  readonly name: string
  readonly manifest?: Record<string, unknown>
  readonly program?: string
  readonly code: string
  readonly exit: number
  /** What the error or its hint must say. */
  readonly says: RegExp
}

const cases: readonly Case[] = [
  {
    name: 'a command that is not in the image',
    manifest: { mcp: { command: 'no-such-program' } },
    code: 'COMMAND_NOT_FOUND',
    exit: 5,
    says: /no-such-program/,
  },
  {
    name: 'a missing required environment value',
    manifest: { mcp: { command: 'node', args: ['server.mjs'], env_required: ['API_KEY'] } },
    program: serverProgram(),
    code: 'ENV_MISSING',
    exit: 6,
    says: /API_KEY/,
  },
  {
    name: 'a server that exits at once',
    program: `console.error('no licence found'); process.exit(3)`,
    code: 'START_FAILED',
    exit: 1,
    says: /exit(ed)?[^\n]*3[\s\S]*no licence found/,
  },
  {
    name: 'a server that hangs in the handshake',
    program: `process.stdin.resume()`,
    code: 'HANDSHAKE_TIMEOUT',
    exit: 7,
    says: /3 ?s|3000/,
  },
  {
    name: 'a server that prints garbage',
    program: `setInterval(() => process.stdout.write('garbage and more garbage\\n'), 5); process.stdin.resume()`,
    code: 'HANDSHAKE_TIMEOUT',
    exit: 7,
    says: /it wrote \d+ lines to stdout that are no JSON-RPC, the first: garbage and more garbage/,
  },
  {
    name: 'a server that forks without end',
    program: `import { spawn } from 'node:child_process'
      const fork = () => { for (let i = 0; i < 20; i++) spawn('sleep', ['60']).on('error', (error) => { console.error('fork refused:', error.code); process.exit(9) }) }
      setInterval(fork, 1)`,
    code: 'START_FAILED',
    exit: 1,
    says: /fork refused: EAGAIN/,
  },
  {
    name: 'a server that eats memory',
    program: `const kept = []; setInterval(() => kept.push(Buffer.alloc(32 * 1024 * 1024, 1)), 1)`,
    code: 'START_FAILED',
    exit: 1,
    says: /memory/i,
  },
]

describe.skipIf(reason)(`servers that do not behave [${reason}]`, () => {
  let home: TestHome
  let folder: PackageFolder
  beforeAll(async () => {
    home = await createTestHome({ driver: 'docker', config })
    folder = await createPackageFolder()
  })
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  it.each(cases)('$name', async ({ manifest, program, code, exit, says, name }) => {
    const id = name.replaceAll(/[^a-z]+/g, '-')
    const installed = await home.pkg(['install', await folder.write(nodeServer(id, manifest), program ? { 'server.mjs': program } : {})])
    expect(installed.stderr).toBe('')

    const started = await home.pkg(['start', id])
    expect(started.stdout).toBe('')
    expect(started.stderr).toContain(`error ${code}: `)
    expect(started.stderr).toMatch(says)
    expect(started.exitCode).toBe(exit)

    const overRest = await home.rest<Problem>('POST', `/v1/packages/${id}/start?wait=true`)
    expect(overRest.headers['content-type']).toContain('application/problem+json')
    expect(overRest.body).toMatchObject({ code, status: overRest.status })
    expect(await home.containers()).toEqual([])
    expect((await home.pkg(['list', '--json'])).json<{ id: string; state: string }[]>()).toContainEqual(
      expect.objectContaining({ id, state: expect.stringMatching(/^(failed|stopped)$/) }),
    )
  })
})
