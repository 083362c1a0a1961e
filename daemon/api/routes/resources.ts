import type { Api, ApiDeps } from '../api.ts'
import { nextLink, paginate } from '../paginate.ts'
import { protocolObjects } from '../protocolObjects.ts'
import { OfPackageQuery, ReadResourceBody } from '../schemas/tools.ts'
import { toClientSignal } from '../streamEvents.ts'

const tags = ['resources']

export function registerResources(app: Api, { mcp, closing }: ApiDeps): void {
  app.get(
    '/v1/resources',
    {
      schema: {
        operationId: 'listResources',
        summary: 'Resources of every package',
        tags,
        querystring: OfPackageQuery,
        response: { 200: protocolObjects.resources },
      },
    },
    ({ query, url }, reply) => {
      const { items, next } = paginate(mcp.resources(query.package), (resource) => `${resource.package}/${resource.uri}`, query)
      if (next !== null) reply.header('link', nextLink(url, next))
      return items
    },
  )

  app.get(
    '/v1/resources/templates',
    {
      schema: {
        operationId: 'listResourceTemplates',
        summary: 'Resource templates of every package',
        tags,
        querystring: OfPackageQuery,
        response: { 200: protocolObjects.resourceTemplates },
      },
    },
    ({ query, url }, reply) => {
      const { items, next } = paginate(mcp.resourceTemplates(query.package), (each) => `${each.package}/${each.uriTemplate}`, query)
      if (next !== null) reply.header('link', nextLink(url, next))
      return items
    },
  )

  app.post(
    '/v1/resources/read',
    {
      schema: {
        operationId: 'readResource',
        summary: "Read a resource; answers MCP's own result",
        tags,
        body: ReadResourceBody,
        response: { 200: protocolObjects.readResult },
      },
    },
    ({ body }, reply) =>
      mcp.readResource(body.package, body.uri, {
        signal: toClientSignal(reply, closing),
        ...(body.timeoutMs === undefined ? {} : { timeoutMs: body.timeoutMs }),
      }),
  )
}
