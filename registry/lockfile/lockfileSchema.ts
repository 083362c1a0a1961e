import { packageIdPattern } from '../manifest/packageId.ts'

const text = { type: 'string', minLength: 1 }
const integrity = { type: 'string', pattern: '^sha(256|384|512)-[A-Za-z0-9+/]+={0,2}$' }
const path = { type: 'string', pattern: '^/' }

const closed = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const resolutions: Record<string, Record<string, object>> = {
  folder: { path },
  archive: { path, integrity },
  npm: { name: text, version: text, tarball: text, integrity },
  pypi: { name: text, version: text, url: text, integrity },
  git: { url: text, commit: { type: 'string', pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$' } },
  https: { url: text, integrity },
}

/** The JSON Schema (2020-12) of `pkgd.lock`. */
export const lockfileSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:pkgd:schema:lockfile',
  ...closed({
    lockfile_version: { const: 1 },
    packages: {
      type: 'object',
      propertyNames: { pattern: packageIdPattern },
      additionalProperties: closed({
        version: { type: 'string', format: 'semver' },
        resolution: {
          type: 'object',
          discriminator: { propertyName: 'kind' },
          properties: { kind: { enum: Object.keys(resolutions) } },
          required: ['kind'],
          oneOf: Object.entries(resolutions).map(([kind, properties]) => closed({ kind: { const: kind }, ...properties })),
        },
        tree: { type: 'string', pattern: '^sha512-[0-9a-f]{128}$' },
        dependencies: { type: 'object', additionalProperties: { type: 'string' } },
        extensions: {
          type: 'object',
          propertyNames: { pattern: packageIdPattern },
          additionalProperties: { type: 'string', format: 'semver-range' },
        },
      }),
    },
  }),
}
