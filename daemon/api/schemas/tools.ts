import { PackageId, PageQuery, strict } from './common.ts'
import { type Static, Type } from './type.ts'

/** Protocol objects keep MCP's own shape and gain `package`. */
const ofPackage = { package: PackageId }
const open = { additionalProperties: true }

export const ToolView = Type.Object(
  {
    ...ofPackage,
    name: Type.String(),
    description: Type.Optional(Type.String()),
    inputSchema: Type.Record(Type.String(), Type.Unknown()),
  },
  { ...open, description: "MCP's Tool" },
)
export type ToolView = Static<typeof ToolView>

export const ResourceView = Type.Object(
  {
    ...ofPackage,
    uri: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    mimeType: Type.Optional(Type.String()),
  },
  { ...open, description: "MCP's Resource" },
)
export type ResourceView = Static<typeof ResourceView>

export const ResourceTemplateView = Type.Object(
  {
    ...ofPackage,
    uriTemplate: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    mimeType: Type.Optional(Type.String()),
  },
  { ...open, description: "MCP's ResourceTemplate" },
)
export type ResourceTemplateView = Static<typeof ResourceTemplateView>

export const PromptView = Type.Object(
  {
    ...ofPackage,
    name: Type.String(),
    description: Type.Optional(Type.String()),
    arguments: Type.Optional(
      Type.Array(
        Type.Object({ name: Type.String(), description: Type.Optional(Type.String()), required: Type.Optional(Type.Boolean()) }, open),
      ),
    ),
  },
  { ...open, description: "MCP's Prompt" },
)
export type PromptView = Static<typeof PromptView>

/** The query of the four lists. */
export const OfPackageQuery = strict({ ...PageQuery.properties, package: Type.Optional(PackageId) })

const timeoutMs = Type.Optional(Type.Integer({ minimum: 1, maximum: 24 * 3600_000 }))

export const CallToolBody = strict({
  package: PackageId,
  tool: Type.String({ minLength: 1 }),
  arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  timeoutMs,
})
export type CallToolBody = Static<typeof CallToolBody>

export const CallToolResult = Type.Object(
  {
    content: Type.Array(Type.Object({ type: Type.String(), text: Type.Optional(Type.String()) }, open)),
    structuredContent: Type.Optional(Type.Unknown()),
    isError: Type.Optional(Type.Boolean()),
  },
  { ...open, description: "MCP's CallToolResult" },
)
export type CallToolResult = Static<typeof CallToolResult>

export const ReadResourceBody = strict({ package: PackageId, uri: Type.String({ minLength: 1 }), timeoutMs })
export type ReadResourceBody = Static<typeof ReadResourceBody>

export const ReadResourceResult = Type.Object(
  {
    contents: Type.Array(
      Type.Object(
        {
          uri: Type.String(),
          mimeType: Type.Optional(Type.String()),
          text: Type.Optional(Type.String()),
          blob: Type.Optional(Type.String({ description: 'base64' })),
        },
        open,
      ),
    ),
  },
  { ...open, description: "MCP's ReadResourceResult" },
)
export type ReadResourceResult = Static<typeof ReadResourceResult>

export const GetPromptBody = strict({
  package: PackageId,
  name: Type.String({ minLength: 1 }),
  arguments: Type.Optional(Type.Record(Type.String(), Type.String())),
  timeoutMs,
})
export type GetPromptBody = Static<typeof GetPromptBody>

export const GetPromptResult = Type.Object(
  {
    description: Type.Optional(Type.String()),
    messages: Type.Array(Type.Object({ role: Type.String(), content: Type.Unknown() }, open)),
  },
  { ...open, description: "MCP's GetPromptResult" },
)
export type GetPromptResult = Static<typeof GetPromptResult>

export const CompleteBody = strict({
  package: PackageId,
  ref: Type.Object({ type: Type.String() }, open),
  argument: strict({ name: Type.String(), value: Type.String() }),
  context: Type.Optional(strict({ arguments: Type.Optional(Type.Record(Type.String(), Type.String())) })),
  timeoutMs,
})
export type CompleteBody = Static<typeof CompleteBody>

export const CompleteResult = Type.Object(
  {
    completion: Type.Object(
      { values: Type.Array(Type.String()), total: Type.Optional(Type.Number()), hasMore: Type.Optional(Type.Boolean()) },
      open,
    ),
  },
  { ...open, description: "MCP's CompleteResult" },
)
export type CompleteResult = Static<typeof CompleteResult>
