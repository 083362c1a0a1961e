import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { type ErrorCode, errorTable } from '../core/errors.ts'
import type { Api, ApiDeps } from './api.ts'
import { registerRoutes } from './registerRoutes.ts'
import { Problem } from './schemas/common.ts'

const problem = {
  description: 'RFC 9457 problem details',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
}

const operations = ['get', 'post', 'delete'] as const

interface Operation {
  responses?: Record<string, unknown>
  security?: unknown
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<(typeof operations)[number], Operation>>>>>
  readonly components: object
}

/** The OpenAPI 3.1 document of every route, from the schemas that the routes validate by. Made only when somebody asks: an idle daemon does not pay for it. */
export async function describeApi(deps: ApiDeps): Promise<object> {
  const app: Api = fastify({ logger: false })
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  const publicUrls = new Set<string>()
  app.addHook('onRoute', ({ url, config }) => {
    if ((config as { public?: boolean } | undefined)?.public) publicUrls.add(url)
  })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'pkgd', version: deps.version, description: 'A package manager and plugin host for AI extensions' },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'The token in $PKGD_HOME/token' } },
      },
      security: [{ token: [] }],
    },
  })
  registerRoutes(app, deps)
  await app.ready()
  const document = JSON.parse(JSON.stringify(app.swagger())) as Document
  await app.close()

  const codes = Object.keys(errorTable) as ErrorCode[]
  const schemas = { Problem: { ...Problem, properties: { ...Problem.properties, code: { type: 'string', enum: codes } } } }
  for (const [path, item] of Object.entries(document.paths)) {
    for (const verb of operations) {
      const operation = item[verb]
      if (!operation) continue
      operation.responses = { ...operation.responses, default: problem }
      if (publicUrls.has(path)) operation.security = []
    }
  }
  return { ...document, components: { ...document.components, schemas } }
}
