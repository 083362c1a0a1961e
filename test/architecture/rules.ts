import type { Module } from './modules.ts'

type ModuleImport = Module['imports'][number]

/** A sentence of the layout that a machine can check: what is wrong with one import, or undefined. */
interface ImportRule {
  readonly sentence: string
  check(from: string, imported: ModuleImport): boolean
}

const inside = (path: string | null, ...folders: string[]): boolean =>
  path !== null && folders.some((folder) => path === folder || path.startsWith(`${folder}/`))

const code = ['daemon', 'registry', 'sandbox', 'cli', 'sdk'] as const

/**
 * daemon's folders from the leaf up: one may import those before its own line. Ports are named with the folder that owns them, so that a higher folder may
 * implement a lower one's port.
 */
const daemonLayers: readonly (readonly string[])[] = [
  ['core'],
  ['config', 'store', 'rpc', 'home', 'log'],
  ['events'],
  ['jobs'],
  ['lifecycle'],
  ['install', 'hooks'],
  ['mcp', 'a2a'],
  ['team'],
  ['doctor'],
  ['api'],
  ['compose', 'createDaemon.ts'],
  ['main.ts'],
]

/** The place of a file of daemon/ among the layers. A file beside main.ts that is neither root nor main belongs to the root. */
function layerOf(path: string): number {
  const part = path.split('/')[1] ?? ''
  const layer = daemonLayers.findIndex((names) => names.includes(part))
  return layer === -1 ? daemonLayers.length - 2 : layer
}

const daemonFolder = (path: string): string => path.split('/')[1] ?? ''

/** The composition root: the files of daemon/ that know the adapters. */
const isRoot = (path: string): boolean =>
  inside(path, 'daemon/compose') || (inside(path, 'daemon') && path.split('/').length === 2 && path !== 'daemon/main.ts')

/** A rule that names of npm packages are imported in these folders alone. */
const confined =
  (packages: RegExp, where: readonly string[], among: readonly string[]): ImportRule['check'] =>
  (from, imported) =>
    inside(from, ...among) && imported.package !== null && packages.test(imported.package) && !inside(from, ...where)

/** What `tar` offers for writing archives. */
const tarWriters = new Set(['c', 'create', 'Pack', 'PackSync', 'Header', 'Pax', 'WriteEntry', 'WriteEntryTar', 'HeaderData', 'types'])

export const importRules: readonly ImportRule[] = [
  {
    sentence: 'daemon/core is a leaf: it imports Node and itself',
    check: (from, { file, package: name }) =>
      inside(from, 'daemon/core') && (name !== null || (file !== null && !inside(file, 'daemon/core'))),
  },
  {
    sentence: 'registry imports daemon/core and itself',
    check: (from, { file }) => inside(from, 'registry') && file !== null && !inside(file, 'registry', 'daemon/core'),
  },
  {
    sentence: 'sandbox imports daemon/core and itself',
    check: (from, { file }) => inside(from, 'sandbox') && file !== null && !inside(file, 'sandbox', 'daemon/core'),
  },
  {
    sentence: 'cli imports daemon/core, registry/manifest, the schemas of the API, and itself',
    check: (from, { file }) =>
      inside(from, 'cli') &&
      file !== null &&
      !inside(file, 'cli', 'daemon/core', 'registry/manifest', 'daemon/api/schemas', 'package.json'),
  },
  {
    sentence: "the API's schemas reach the CLI as types alone: it starts without the library that they are made of",
    check: (from, { file, typeOnly }) => inside(from, 'cli') && inside(file, 'daemon/api') && !typeOnly,
  },
  {
    sentence: 'cli imports no SDK, no server and no engine',
    check: confined(/^(@modelcontextprotocol\/|@a2a-js\/|fastify$|@fastify\/|dockerode$|typebox$|pino$)/, [], ['cli']),
  },
  {
    sentence: "sdk imports nothing of the daemon's: it is shipped alone",
    check: (from, { file }) => inside(from, 'sdk') && file !== null && !inside(file, 'sdk'),
  },
  {
    sentence: 'nothing of the program imports tests, demos or packages',
    check: (from, { file }) => inside(from, ...code) && inside(file, 'test', 'demo', 'packages'),
  },
  {
    sentence: 'nothing of the program but the CLI imports the CLI',
    check: (from, { file }) => inside(from, ...code) && !inside(from, 'cli') && inside(file, 'cli'),
  },
  {
    sentence:
      "inside daemon imports go down: core, then config store rpc home log, events, jobs, lifecycle, install hooks, mcp a2a, team, doctor, api, the root, main; only the API's schemas, as types, go anywhere",
    check: (from, { file, typeOnly }) => {
      if (!inside(from, 'daemon') || file === null || !inside(file, 'daemon')) return false
      if (inside(file, 'daemon/api/schemas') && typeOnly) return false
      if (daemonFolder(from) === daemonFolder(file) || (isRoot(from) && isRoot(file))) return false
      return layerOf(file) >= layerOf(from)
    },
  },
  {
    sentence: 'of the sandbox, the daemon knows the port (doctor the types of its parts too); only the root knows the drivers',
    check: (from, { file, typeOnly }) =>
      inside(from, 'daemon') &&
      !isRoot(from) &&
      !(inside(from, 'daemon/doctor') && typeOnly) &&
      inside(file, 'sandbox') &&
      file !== 'sandbox/sandboxDriver.ts',
  },
  {
    sentence:
      "below install and the hosts, the daemon knows of the registry only its types, and how names are likened; config also reads with the manifest's parsers",
    check: (from, { file, typeOnly }) => {
      if (!inside(from, 'daemon') || !inside(file, 'registry') || typeOnly) return false
      if (inside(from, 'daemon/config')) return !inside(file, 'registry/manifest')
      if (file === 'registry/manifest/nearestKey.ts') return false
      return layerOf(from) <= layerOf('daemon/lifecycle')
    },
  },
  { sentence: 'only sandbox/docker imports dockerode', check: confined(/^(dockerode|docker-modem)$/, ['sandbox/docker'], code) },
  { sentence: 'only daemon/api imports fastify', check: confined(/^(fastify|@fastify\/.*)$/, ['daemon/api'], code) },
  {
    sentence: 'only registry/store extracts archives; sandbox writes them',
    check: (from, { package: name, names }) => {
      if (!inside(from, ...code) || name === null || !/^(tar|tar-stream|tar-fs|yauzl|unzipper|adm-zip|fflate)$/.test(name)) return false
      if (inside(from, 'registry/store')) return false
      return !(name === 'tar' && inside(from, 'sandbox') && names.length > 0 && names.every((one) => tarWriters.has(one)))
    },
  },
  {
    sentence: 'inside daemon the MCP SDK stays in daemon/mcp; registry and sandbox have none',
    check: confined(/^@modelcontextprotocol\//, ['daemon/mcp'], ['daemon', 'registry', 'sandbox']),
  },
  {
    sentence: 'inside daemon the A2A SDK stays in daemon/a2a; registry and sandbox have none',
    check: confined(/^@a2a-js\//, ['daemon/a2a'], ['daemon', 'registry', 'sandbox']),
  },
  {
    sentence: 'relative imports name the file with its extension',
    check: (_, { file }) => file !== null && !/\.(ts|mts|json|mjs)$/.test(file),
  },
  {
    sentence: "Node's own modules are imported with node:",
    check: (_, { package: name }) =>
      name !== null && /^(fs|path|os|url|util|events|stream|http|https|net|crypto|child_process|timers|assert|zlib|module)$/.test(name),
  },
]

/** Every import that breaks a rule, one line each. */
export function importViolations(modules: readonly Module[]): string[] {
  return modules.flatMap(({ path, imports }) =>
    imports.flatMap((imported) =>
      importRules
        .filter((rule) => rule.check(path, imported))
        .map((rule) => `${path}:${imported.line} imports ${imported.file ?? imported.specifier}: ${rule.sentence}`),
    ),
  )
}

/** The most lines of a file. */
const mostLines = 300

/** Every file that is too long, has a default export, or a name that says nothing. */
export function fileViolations(modules: readonly Module[]): string[] {
  return modules.flatMap(({ path, source }) => {
    const lines = source.split('\n').length - (source.endsWith('\n') ? 1 : 0)
    const empty = /(^|\/)(utils?|helpers?|misc|manager)(\.|\/)/i.test(path)
    return [
      ...(lines > mostLines ? [`${path} has ${lines} lines: at most ${mostLines}`] : []),
      ...(/^export\s+default\b|^export\s*\{[^}]*\bas\s+default\b/m.test(source) ? [`${path} has a default export`] : []),
      ...(empty ? [`${path} is not named after what it holds`] : []),
    ]
  })
}
