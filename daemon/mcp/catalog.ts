import type { Implementation, Prompt, Resource, ResourceTemplateType, Tool } from '@modelcontextprotocol/client'
import { isObject } from '../rpc/parseMessage.ts'
import { parseImplementation } from './mcpSession.ts'
import type { McpEra } from './protocol.ts'

/** The lists of a package version, kept while it is installed: they answer while it sleeps. */
export interface CatalogLists {
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplateType[]
  readonly prompts: readonly Prompt[]
}

/** What was learnt of a package version. */
export interface Catalog extends CatalogLists {
  readonly era: McpEra
  readonly serverInfo: Implementation | null
  readonly instructions: string | null
}

export const emptyLists: CatalogLists = { tools: [], resources: [], resourceTemplates: [], prompts: [] }

/** A stored catalog, or undefined when it was written in another form. */
export function parseCatalog(stored: unknown): Catalog | undefined {
  if (!isObject(stored)) return undefined
  const { era, tools, resources, resourceTemplates, prompts, instructions } = stored
  if (era !== 'legacy' && era !== 'modern') return undefined
  if (!Array.isArray(tools) || !Array.isArray(resources) || !Array.isArray(resourceTemplates) || !Array.isArray(prompts)) return undefined
  return {
    era,
    serverInfo: parseImplementation(stored.serverInfo),
    instructions: typeof instructions === 'string' ? instructions : null,
    tools,
    resources,
    resourceTemplates,
    prompts,
  }
}
