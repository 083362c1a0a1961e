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
  responses?: Record<string, { content?: Record<string, unknown> }>
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
  const streamed = new Set<string>()
  app.addHook('onRoute', ({ url, config }) => {
    const { public: isPublic, streams } = config ?? {}
    if (isPublic) publicUrls.add(url)
    if (streams) streamed.add(toPath(url))
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
      if (verb === 'get' && streamed.has(path)) addStream(operation)
    }
  }
  return { ...document, components: { ...document.components, schemas } }
}

/** `/jobs/:id` as OpenAPI writes it. */
const toPath = (url: string): string => url.replaceAll(/:(\w+)/g, '{$1}')

/** OpenAPI 3.1 has no words for the events of a stream: each one's data is what the JSON answer is made of. */
function addStream(operation: Operation): void {
  const done = operation.responses?.['200']
  if (!done) return
  done.content = {
    ...done.content,
    'text/event-stream': { schema: { type: 'string', description: 'Server-sent events; the data of each is JSON' } },
  }
}
