import type { McpService } from '../mcp/mcpService.ts'
import * as schemas from './schemas/tools.ts'
import { Type } from './schemas/type.ts'

type Result<Name extends keyof McpService> = Awaited<ReturnType<McpService[Name]>>

/** The schemas of MCP's own objects, typed as the service gives them: they go out unchanged, keys that no schema names included. */
export const protocolObjects = {
  tools: Type.Unsafe<Result<'tools'>>(Type.Array(schemas.ToolView)),
  resources: Type.Unsafe<Result<'resources'>>(Type.Array(schemas.ResourceView)),
  resourceTemplates: Type.Unsafe<Result<'resourceTemplates'>>(Type.Array(schemas.ResourceTemplateView)),
  prompts: Type.Unsafe<Result<'prompts'>>(Type.Array(schemas.PromptView)),
  callResult: Type.Unsafe<Result<'callTool'>>(schemas.CallToolResult),
  readResult: Type.Unsafe<Result<'readResource'>>(schemas.ReadResourceResult),
  promptResult: Type.Unsafe<Result<'getPrompt'>>(schemas.GetPromptResult),
  completeResult: Type.Unsafe<Result<'complete'>>(schemas.CompleteResult),
}
