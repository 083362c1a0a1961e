import { manifestSchema } from '../../../registry/manifest/manifestSchema.ts'
import { configSchema } from '../../config/configSchema.ts'
import type { Api } from '../api.ts'

const published = { manifest: manifestSchema, config: configSchema }

/** JSON Schemas for editors: `/schemas/manifest.json`, `/schemas/config.json`. */
export function registerSchemas(app: Api): void {
  for (const [name, schema] of Object.entries(published)) {
    app.get(
      `/schemas/${name}.json`,
      {
        config: { public: true },
        schema: {
          operationId: `get${name === 'manifest' ? 'Manifest' : 'Config'}Schema`,
          summary: `The JSON Schema of a ${name}`,
          tags: ['schemas'],
        },
      },
      (_, reply) => {
        reply.type('application/schema+json')
        return schema
      },
    )
  }
}
