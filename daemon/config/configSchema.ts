import { closed, described, duration, list, type Schema, size, text } from '../../registry/manifest/schemaParts.ts'

const cidr = described({ type: 'string', format: 'cidr' }, 'an address range such as "10.213.0.0/16"')
const count = (fallback: number, maximum: number): Schema => ({ type: 'integer', minimum: 1, maximum, default: fallback })
/** A size whose default depends on the machine. */
const { default: _, ...hostSize } = size('')
const limitNames = ['memory', 'cpu', 'pids', 'tmp']

const registry: Schema = {
  type: 'object',
  properties: {
    folder: described({ type: 'string', minLength: 1 }, 'a folder of packages; a relative one is relative to PKGD_HOME'),
    npm: described({ type: 'string', pattern: '^https?://\\S+$' }, 'the address of an npm-compatible registry'),
    scope: described({ type: 'string', pattern: '^@[a-z0-9][a-z0-9._-]*$' }, 'an npm scope such as "@acme"'),
  },
  additionalProperties: false,
  dependentRequired: { scope: ['npm'] },
  // biome-ignore format: one alternative a line
  oneOf: [
    { type: 'object', required: ['folder'] },
    { type: 'object', required: ['npm'] },
  ],
}

/** The JSON Schema (2020-12) of pkgd.yaml, published at /schemas/config.json. Defaults that depend on the machine are told in descriptions. */
export const configSchema: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:pkgd:schema:config',
  title: 'pkgd.yaml',
  ...closed({
    port: { type: 'integer', minimum: 0, maximum: 65535, default: 7433, description: 'a port on 127.0.0.1; 0 picks a free one' },
    log: { enum: ['silent', 'debug', 'info', 'warn', 'error'], default: 'info' },
    driver: { enum: ['auto', 'docker', 'bubblewrap'], default: 'auto' },
    limits: closed({
      max: {
        ...closed({
          memory: hostSize,
          cpus: described({ type: 'number', minimum: 0.01, maximum: 4096 }, 'a number of CPUs; all of them by default'),
          pids: count(1024, 4_194_304),
          tmp: hostSize,
        }),
        description: 'the ceiling for one package; memory is half of the host by default',
      },
      allow_unenforced: { ...list({ enum: limitNames }), uniqueItems: true },
      frame: size('16MB'),
      archive: size('512MB'),
      archive_entries: count(100_000, 10_000_000),
      log: size('10MB'),
    }),
    network: closed({
      pool: { ...cidr, default: '10.213.0.0/16' },
      allow_private: { ...list(cidr), uniqueItems: true },
      resolvers: { ...list(described({ type: 'string', format: 'ip' }, 'the address of a resolver')), uniqueItems: true },
    }),
    install: closed({
      allow_sources: { ...list({ enum: ['git', 'url', 'file'] }), uniqueItems: true },
      sdist: { type: 'boolean', default: false },
      timeout: duration('15m'),
    }),
    registries: list(registry),
    images: closed({ node: text, python: text }),
    lifecycle: closed({
      parallel: count(4, 64),
      pull_timeout: duration('10m'),
      boot_timeout: duration('30s'),
      handshake_timeout: duration('60s'),
      stop_grace: duration('3s'),
      stable: duration('60s'),
    }),
    calls: closed({ timeout: duration('60s') }),
    events: closed({ keep: duration('7d'), keep_at_most: count(100_000, 10_000_000) }),
    first_uid: { type: 'integer', minimum: 100_000, maximum: 2_000_000_000, default: 200_000 },
  }),
}
