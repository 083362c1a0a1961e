import { a2aSchema, hookSchema, mcpSchema } from './entrySchemas.ts'
import { packageIdPattern, reservedIds } from './packageId.ts'
import { hostPortPattern } from './parseHostPort.ts'
import { leastMemory } from './parseSize.ts'
import { closed, described, duration, environmentName, list, type Schema, size, text } from './schemaParts.ts'

const packageId = described(
  { type: 'string', pattern: packageIdPattern },
  'an id of 1 to 64 lower-case letters, digits, ".", "_" and "-" that begins and ends with a letter or digit',
)
const semverRange = described({ type: 'string', minLength: 1, format: 'semver-range' }, 'a semver range such as "^1.2.0"')

const exactVersion = described(
  {
    type: 'string',
    maxLength: 256,
    // The expression that semver.org suggests.
    pattern:
      '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-((0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(\\.(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(\\+([0-9a-zA-Z-]+(\\.[0-9a-zA-Z-]+)*))?$',
    format: 'semver',
  },
  'an exact semantic version such as "1.0.0"',
)

const network: Schema = {
  ...closed(
    {
      allow: {
        ...list(
          described({ type: 'string', pattern: hostPortPattern, format: 'host-port' }, 'a name and port such as "api.example.com:443"'),
        ),
        minItems: 1,
        uniqueItems: true,
      },
    },
    ['allow'],
  ),
  type: ['boolean', 'object'],
  default: false,
  description: 'false, true, or { "allow": ["host:port"] }',
}

const mount = closed(
  {
    name: described({ type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,62}$' }, 'a short lower-case name'),
    target: described({ type: 'string', format: 'mount-target' }, 'an absolute path that neither the sandbox nor the image owns'),
    mode: { enum: ['ro', 'rw'], default: 'ro' },
    description: text,
  },
  ['name', 'target'],
)

const filesystem: Schema = {
  ...closed({ data: { type: 'boolean', default: false }, mounts: list(mount) }),
  type: ['boolean', 'object'],
  default: false,
  description: 'false, true (a private writable /data), or { "mounts": […] }',
}

const sandbox = closed({
  network,
  filesystem,
  memory_limit: { ...size('256MB'), format: 'memory', minimum: leastMemory },
  cpu_limit: described({ type: 'number', minimum: 0.01, maximum: 4096, default: 1 }, 'a number of CPUs such as 0.5'),
  pids_limit: { type: 'integer', minimum: 1, maximum: 4_194_304, default: 128 },
  tmp_size: size('64MB'),
  image: described({ type: 'string', pattern: '^[a-z0-9][A-Za-z0-9._:/@-]*$', maxLength: 512 }, 'an image reference'),
})

const configEntry = closed({
  type: { enum: ['string', 'number', 'boolean'], default: 'string' },
  title: text,
  description: text,
  default: described({ type: ['string', 'number', 'boolean'] }, "a value of the entry's type"),
  sensitive: { type: 'boolean', default: false },
  required: { type: 'boolean', default: false },
  env: environmentName,
})

const dependencies = closed({
  python: described({ type: 'string', format: 'python-range' }, 'a Python version range such as ">=3.11"'),
  node: described({ type: 'string', minLength: 1, format: 'semver-range' }, 'a Node version range such as ">=20"'),
  packages: {
    ...list(
      described({ type: 'string', pattern: '^[^\\u0000-\\u001f]+$', maxLength: 1024 }, 'a pip requirement or an npm spec on one line'),
    ),
    uniqueItems: true,
  },
  sdk: semverRange,
  extensions: { type: 'object', propertyNames: packageId, additionalProperties: semverRange },
})

/** A package of these types has `section` and none of the others. */
const sectionRule = (types: readonly string[], section: string, others: readonly string[]): Schema => ({
  if: { type: 'object', properties: { type: { enum: types } }, required: ['type'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    type: 'object',
    properties: Object.fromEntries([[section, true], ...others.map((other) => [other, false])]),
    required: [section],
  },
})

/** The manifest's JSON Schema (2020-12), published at /schemas/manifest.json. The formats that are not JSON Schema's own are annotations for other validators. */
export const manifestSchema: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:pkgd:schema:manifest',
  title: 'pkgd package manifest',
  ...closed(
    {
      $schema: { type: 'string' },
      id: { ...packageId, not: { enum: reservedIds } },
      name: text,
      version: exactVersion,
      description: text,
      author: text,
      license: text,
      homepage: described({ type: 'string', pattern: '^https?://\\S+$' }, 'an http or https address'),
      keywords: list(text),
      type: { enum: ['mcp-server', 'a2a-agent', 'internal-hook', 'internal'] },
      mcp: mcpSchema,
      a2a: a2aSchema,
      hook: hookSchema,
      sandbox,
      config: {
        type: 'object',
        propertyNames: described({ type: 'string', pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' }, 'a name that begins with a letter'),
        additionalProperties: configEntry,
      },
      dependencies,
      restart: closed({
        policy: { enum: ['no', 'on-failure', 'always'], default: 'on-failure' },
        max_retries: { type: 'integer', minimum: 0, maximum: 1000, default: 5 },
        window: duration('10m'),
      }),
      health: closed({
        interval: duration('30s'),
        timeout: duration('5s'),
        retries: { type: 'integer', minimum: 1, maximum: 100, default: 3 },
      }),
      start: { enum: ['eager', 'on-demand'], default: 'eager' },
      idle_timeout: duration('10m'),
    },
    ['id', 'name', 'version', 'type'],
  ),
  allOf: [
    sectionRule(['mcp-server'], 'mcp', ['a2a', 'hook']),
    sectionRule(['a2a-agent'], 'a2a', ['mcp', 'hook']),
    sectionRule(['internal-hook', 'internal'], 'hook', ['mcp', 'a2a']),
  ],
}
