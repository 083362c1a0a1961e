import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { missing } from '../provision/requirements.ts'
import { createPackageFolder, nodeServer, serverProgram } from './packages.ts'
import { createTestHome } from './testHome.ts'

const reason = await missing('docker')
const bin = join(import.meta.dirname, '..', '..', 'bin')

it.skipIf(reason)(
  `what a start without its values hints at, typed into a shell, makes it start, and keeps all else [${reason}]`,
  async () => {
    await using folder = await createPackageFolder()
    await using home = await createTestHome({ driver: 'docker' })
    const manifest = nodeServer('needy', {
      mcp: { command: 'node', args: ['server.mjs'], env_required: ['API_KEY', 'REGION', 'GIVEN'] },
      sandbox: { network: true },
    })
    const onCall = `if (params.name === 'echo') { answer(id, { content: [{ type: 'text', text:
    [process.env.API_KEY, process.env.REGION, process.env.GIVEN, ...process.argv.slice(2)].join(' ') }] }); continue }`
    const path = join(folder.path, "it's here")
    await cp(await folder.write(manifest, { 'server.mjs': serverProgram({ onCall }) }), path, { recursive: true })
    await home.pkg(['install', path, '--yes', '--env', 'GIVEN=before', '--memory', '300MB', '--', 'argument'])

    const refused = await home.pkg(['start', 'needy'])
    expect(refused.stderr).toContain('error ENV_MISSING: needy cannot start without API_KEY, REGION\n')
    expect(refused.exitCode).toBe(6)
    const hint = /^hint: (.+)$/m.exec(refused.stderr)?.[1] ?? ''
    expect(hint).toMatch(/^pkg install .* --secret API_KEY --env REGION=value$/)

    const typed = await execa('sh', ['-c', hint], {
      input: 'k3y\n',
      env: { PKGD_HOME: home.path, PATH: `${bin}:${process.env.PATH}` },
      reject: false,
    })
    expect(typed).toMatchObject({ stderr: '', exitCode: 0 })
    expect((await home.pkg(['start', 'needy'])).exitCode).toBe(0)
    expect((await home.pkg(['call', 'needy/echo', '{"message":""}'])).stdout).toBe('k3y value before argument\n')
    expect((await home.pkg(['info', 'needy', '--json'])).json()).toMatchObject({
      network: { mode: 'internet' },
      limits: { asked: { memoryBytes: 300 * 1024 ** 2 } },
      secrets: ['API_KEY'],
      env: ['GIVEN', 'REGION'],
    })
  },
)
