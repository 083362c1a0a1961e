import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  Tool,
} from '@modelcontextprotocol/client'

type Of<T> = T & { readonly package: string }

export interface CallOptions {
  readonly timeoutMs?: number
  readonly signal: AbortSignal
  readonly onProgress?: (progress: { progress: number; total?: number; message?: string }) => void
}

/** What the API asks of running MCP packages. Lists come from the catalog of each package's version and answer while packages sleep. */
export interface McpService {
  tools(packageId?: string): Of<Tool>[]
  resources(packageId?: string): Of<Resource>[]
  resourceTemplates(packageId?: string): Of<ResourceTemplateType>[]
  prompts(packageId?: string): Of<Prompt>[]
  /** Errors: TOOL_NOT_FOUND (nearest name hinted), ARGUMENTS_INVALID with pointers, NOT_RUNNING, CALL_TIMEOUT, PACKAGE_CRASHED, FRAME_TOO_LARGE, UPSTREAM_ERROR. */
  callTool(packageId: string, tool: string, args: Record<string, unknown>, options: CallOptions): Promise<CallToolResult>
  readResource(packageId: string, uri: string, options: CallOptions): Promise<ReadResourceResult>
  getPrompt(packageId: string, name: string, args: Record<string, string>, options: CallOptions): Promise<GetPromptResult>
  complete(packageId: string, params: Record<string, unknown>, options: CallOptions): Promise<CompleteResult>
}
