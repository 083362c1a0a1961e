import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { importCycles } from './cycles.ts'
import { loadModules, toModule } from './modules.ts'
import { fileViolations, importRules, importViolations } from './rules.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the layout', () => {
  const modules = loadModules(root)

  it('has sources to check in every part', () => {
    for (const part of ['daemon/core', 'registry/manifest', 'sandbox/docker', 'cli', 'test']) {
      expect(modules.some(({ path }) => path.startsWith(part))).toBe(true)
    }
  })

  it('keeps its direction and confines its libraries', () => expect(importViolations(modules)).toEqual([]))

  it('has no import cycles', () => expect(importCycles(modules)).toEqual([]))

  it('has short files with names, and no default exports', () => {
    expect(fileViolations(modules.filter(({ path }) => !path.endsWith('.config.ts')))).toEqual([])
  })

  it('imports only files that are there', () => {
    const missing = modules.flatMap(({ path, imports }) =>
      imports.filter(({ file }) => file !== null && !existsSync(join(root, file))).map(({ file }) => `${path} imports ${file}`),
    )
    expect(missing).toEqual([])
  })

  it('speaks of folders that exist, so that no rule is about nothing', () => {
    for (const folder of [
      'daemon/core',
      'daemon/api',
      'daemon/mcp',
      'daemon/lifecycle',
      'daemon/install',
      'registry/store',
      'registry/manifest',
      'sandbox/docker',
      'sandbox/images',
    ]) {
      expect(existsSync(join(root, folder)), folder).toBe(true)
    }
  })
})

/** One import for each rule that breaks it, and its neighbour that does not. */
const cases: readonly { readonly rule: RegExp; readonly breaks: readonly [string, string]; readonly keeps: readonly [string, string] }[] = [
  {
    rule: /daemon\/core is a leaf/,
    breaks: ['daemon/core/a.ts', "import semver from 'semver'"],
    keeps: ['daemon/core/a.ts', "import { join } from 'node:path'"],
  },
  {
    rule: /registry imports/,
    breaks: ['registry/resolve/a.ts', "import type { Config } from '../../daemon/config/config.ts'"],
    keeps: ['registry/resolve/a.ts', "import { x } from '../../daemon/core/errors.ts'"],
  },
  {
    rule: /registry imports/,
    breaks: ['registry/store/a.ts', "import { x } from '../../sandbox/sandboxDriver.ts'"],
    keeps: ['registry/store/a.ts', "import { x } from '../fetch/b.ts'"],
  },
  {
    rule: /sandbox imports/,
    breaks: ['sandbox/docker/a.ts', "import type { X } from '../../registry/store/packageStore.ts'"],
    keeps: ['sandbox/docker/a.ts', "import type { X } from '../sandboxDriver.ts'"],
  },
  {
    rule: /cli imports daemon\/core/,
    breaks: ['cli/commands/a.ts', "const x = await import('../../registry/resolve/parseSpec.ts')"],
    keeps: ['cli/commands/a.ts', "const x = await import('../../registry/manifest/readManifest.ts')"],
  },
  {
    rule: /as types alone/,
    breaks: ['cli/a.ts', "import { X } from '../daemon/api/schemas/jobs.ts'"],
    keeps: ['cli/a.ts', "import { type X } from '../daemon/api/schemas/jobs.ts'"],
  },
  {
    rule: /no SDK/,
    breaks: ['cli/a.ts', "import { Client } from '@modelcontextprotocol/client'"],
    keeps: ['cli/a.ts', "import { closest } from 'fastest-levenshtein'"],
  },
  {
    rule: /shipped alone/,
    breaks: ['sdk/agent/a.ts', "import { x } from '../../daemon/core/errors.ts'"],
    keeps: ['sdk/agent/a.ts', "import { x } from '../b.ts'"],
  },
  {
    rule: /imports tests/,
    breaks: ['daemon/api/a.ts', "import { x } from '../../test/run.ts'"],
    keeps: ['test/api/a.ts', "import { x } from '../run.ts'"],
  },
  {
    rule: /but the CLI imports/,
    breaks: ['daemon/main.ts', "import { x } from '../cli/runCli.ts'"],
    keeps: ['cli/main.ts', "import { x } from './runCli.ts'"],
  },
  {
    rule: /imports go down/,
    breaks: ['daemon/home/a.ts', "import { X } from '../api/schemas/packages.ts'"],
    keeps: ['daemon/home/a.ts', "import type { X } from '../api/schemas/packages.ts'"],
  },
  {
    rule: /only the root knows the drivers/,
    breaks: ['daemon/doctor/a.ts', "import { x } from '../../sandbox/images/imageBuilder.ts'"],
    keeps: ['daemon/compose/a.ts', "import { x } from '../../sandbox/images/imageBuilder.ts'"],
  },
  {
    rule: /imports go down/,
    breaks: ['daemon/lifecycle/a.ts', "import type { X } from '../mcp/mcpService.ts'"],
    keeps: ['daemon/mcp/a.ts', "import type { X } from '../lifecycle/packageHost.ts'"],
  },
  {
    rule: /imports go down/,
    breaks: ['daemon/mcp/a.ts', "export { x } from '../a2a/b.ts'"],
    keeps: ['daemon/team/a.ts', "export { x } from '../a2a/b.ts'"],
  },
  {
    rule: /imports go down/,
    breaks: ['daemon/api/a.ts', "import { createDaemon } from '../createDaemon.ts'"],
    keeps: ['daemon/main.ts', "import { createDaemon } from './createDaemon.ts'"],
  },
  {
    rule: /only the root knows the drivers/,
    breaks: ['daemon/lifecycle/a.ts', "import { x } from '../../sandbox/stdio/b.ts'"],
    keeps: ['daemon/createDaemon.ts', "import { x } from '../sandbox/stdio/b.ts'"],
  },
  {
    rule: /only its types/,
    breaks: ['daemon/store/a.ts', "import { x } from '../../registry/resolve/parseSpec.ts'"],
    keeps: ['daemon/store/a.ts', "import type { X } from '../../registry/resolve/resolution.ts'"],
  },
  {
    rule: /only its types/,
    breaks: ['daemon/config/a.ts', "import { x } from '../../registry/lockfile/b.ts'"],
    keeps: ['daemon/config/a.ts', "import { x } from '../../registry/manifest/parseSize.ts'"],
  },
  {
    rule: /imports dockerode/,
    breaks: ['sandbox/images/a.ts', "import Docker from 'dockerode'"],
    keeps: ['sandbox/docker/a.ts', "import Docker from 'dockerode'"],
  },
  {
    rule: /imports fastify/,
    breaks: ['daemon/mcp/a.ts', "import type { FastifyInstance } from 'fastify'"],
    keeps: ['daemon/api/a.ts', "import swagger from '@fastify/swagger'"],
  },
  {
    rule: /extracts archives/,
    breaks: ['registry/fetch/a.ts', "import { extract } from 'tar'"],
    keeps: ['registry/store/a.ts', "import { Parser } from 'tar'"],
  },
  {
    rule: /extracts archives/,
    breaks: ['sandbox/images/a.ts', "import { create, extract } from 'tar'"],
    keeps: ['sandbox/images/a.ts', "import { create } from 'tar'"],
  },
  {
    rule: /extracts archives/,
    breaks: ['sandbox/images/a.ts', "import * as tar from 'tar'"],
    keeps: ['sandbox/images/a.ts', "import { Header, Pack } from 'tar'"],
  },
  {
    rule: /MCP SDK stays/,
    breaks: ['daemon/api/a.ts', "import type { Tool } from '@modelcontextprotocol/client'"],
    keeps: ['daemon/mcp/a.ts', "import type { Tool } from '@modelcontextprotocol/client'"],
  },
  {
    rule: /A2A SDK stays/,
    breaks: ['daemon/mcp/a.ts', "import { x } from '@a2a-js/sdk/client'"],
    keeps: ['daemon/a2a/a.ts', "import { x } from '@a2a-js/sdk/client'"],
  },
  { rule: /with its extension/, breaks: ['daemon/api/a.ts', "import './b'"], keeps: ['daemon/api/a.ts', "import './b.ts'"] },
  {
    rule: /with node:/,
    breaks: ['daemon/api/a.ts', "import { readFile } from 'fs/promises'"],
    keeps: ['daemon/api/a.ts', "import { readFile } from 'node:fs/promises'"],
  },
]

describe('the checker', () => {
  it.each(cases)('sees that $breaks.0 must not say $breaks.1', ({ rule, breaks, keeps }) => {
    const violations = (entry: readonly [string, string]) => importViolations([toModule(entry[0], `${entry[1]}\n`)])
    expect(violations(breaks).filter((line) => rule.test(line))).toHaveLength(1)
    expect(violations(keeps)).toEqual([])
  })

  it('has a case for every rule', () => {
    for (const { sentence } of importRules)
      expect(
        cases.some(({ rule }) => rule.test(sentence)),
        sentence,
      ).toBe(true)
  })

  it('sees cycles, through types as well, but not through what is loaded on demand', () => {
    const a = toModule('daemon/x/a.ts', "import type { B } from './b.ts'\n")
    const b = toModule('daemon/x/b.ts', "export * from './c.ts'\n")
    expect(importCycles([a, b, toModule('daemon/x/c.ts', "import { A } from './a.ts'\n")])).toEqual([
      'daemon/x/a.ts -> daemon/x/b.ts -> daemon/x/c.ts -> daemon/x/a.ts',
    ])
    expect(importCycles([a, b, toModule('daemon/x/c.ts', "const a = () => import('./a.ts')\n")])).toEqual([])
  })

  it('sees long files, default exports and empty names', () => {
    const long = toModule('cli/long.ts', 'const x = 1\n'.repeat(301))
    expect(
      fileViolations([
        long,
        toModule('cli/a.ts', 'export default 1\n'),
        toModule('cli/utils.ts', '\n'),
        toModule('cli/b.ts', 'const x = 1\nexport { x as default }\n'),
      ]),
    ).toEqual([
      'cli/long.ts has 301 lines: at most 300',
      'cli/a.ts has a default export',
      'cli/utils.ts is not named after what it holds',
      'cli/b.ts has a default export',
    ])
    expect(fileViolations([toModule('cli/short.ts', 'const x = 1\n'.repeat(300))])).toEqual([])
  })
})
