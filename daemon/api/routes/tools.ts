import type { Api, ApiDeps } from '../api.ts'
import { nextLink, paginate } from '../paginate.ts'
import { protocolObjects } from '../protocolObjects.ts'
import { CallToolBody, OfPackageQuery } from '../schemas/tools.ts'
import { toClientSignal } from '../streamEvents.ts'

const tags = ['tools']

export function registerTools(app: Api, { mcp, closing }: ApiDeps): void {
  app.get(
    '/v1/tools',
    {
      schema: {
        operationId: 'listTools',
        summary: 'Tools of every package, asleep ones included',
        tags,
        querystring: OfPackageQuery,
        response: { 200: protocolObjects.tools },
      },
    },
    ({ query, url }, reply) => {
      const { items, next } = paginate(mcp.tools(query.package), (tool) => `${tool.package}/${tool.name}`, query)
      if (next !== null) reply.header('link', nextLink(url, next))
      return items
    },
  )

  app.post(
    '/v1/tools/call',
    {
      schema: {
        operationId: 'callTool',
        summary: "Call a tool; answers MCP's own result",
        tags,
        body: CallToolBody,
        response: { 200: protocolObjects.callResult },
      },
    },
    ({ body }, reply) =>
      mcp.callTool(body.package, body.tool, body.arguments ?? {}, {
        signal: toClientSignal(reply, closing),
        ...(body.timeoutMs === undefined ? {} : { timeoutMs: body.timeoutMs }),
      }),
  )
}
