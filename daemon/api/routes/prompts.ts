import type { Api, ApiDeps } from '../api.ts'
import { nextLink, paginate } from '../paginate.ts'
import { protocolObjects } from '../protocolObjects.ts'
import { CompleteBody, GetPromptBody, OfPackageQuery } from '../schemas/tools.ts'
import { toClientSignal } from '../streamEvents.ts'

const tags = ['prompts']

export function registerPrompts(app: Api, { mcp, closing }: ApiDeps): void {
  app.get(
    '/v1/prompts',
    {
      schema: {
        operationId: 'listPrompts',
        summary: 'Prompts of every package',
        tags,
        querystring: OfPackageQuery,
        response: { 200: protocolObjects.prompts },
      },
    },
    ({ query, url }, reply) => {
      const { items, next } = paginate(mcp.prompts(query.package), (prompt) => `${prompt.package}/${prompt.name}`, query)
      if (next !== null) reply.header('link', nextLink(url, next))
      return items
    },
  )

  app.post(
    '/v1/prompts/get',
    {
      schema: {
        operationId: 'getPrompt',
        summary: "Get a prompt; answers MCP's own result",
        tags,
        body: GetPromptBody,
        response: { 200: protocolObjects.promptResult },
      },
    },
    ({ body }, reply) =>
      mcp.getPrompt(body.package, body.name, body.arguments ?? {}, {
        signal: toClientSignal(reply, closing),
        ...(body.timeoutMs === undefined ? {} : { timeoutMs: body.timeoutMs }),
      }),
  )

  app.post(
    '/v1/complete',
    {
      schema: {
        operationId: 'complete',
        summary: 'Complete an argument of a prompt or resource template',
        tags,
        body: CompleteBody,
        response: { 200: protocolObjects.completeResult },
      },
    },
    ({ body: { package: id, timeoutMs, ...params } }, reply) =>
      mcp.complete(id, params, { signal: toClientSignal(reply, closing), ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
  )
}
