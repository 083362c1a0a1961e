import type { Prompt, Resource, ResourceTemplateType, ServerCapabilities, Tool } from '@modelcontextprotocol/client'
import { PkgdError } from '../core/errors.ts'
import { isObject } from '../rpc/parseMessage.ts'
import type { RequestOptions } from '../rpc/rpc.ts'
import { findRpcError, rpcCodes } from '../rpc/rpcFailure.ts'
import type { CatalogLists } from './catalog.ts'
import type { ListedConnection } from './mcpConnection.ts'

/** What a server may change together: resources and their templates are announced as one. */
export type CatalogPart = 'tools' | 'resources' | 'prompts'

export const catalogParts: readonly CatalogPart[] = ['tools', 'resources', 'prompts']

/** A server that never ends its pages is cut off here, with an error. */
const maxPages = 1_000

/** So much may a list have in all: it is kept in memory and in the store. */
const maxListBytes = 32 << 20

/** Lists one part of what a server offers, all pages; empty when it does not declare it. Errors: PROTOCOL_ERROR for a list of another form, and the peer's. */
export async function listPart(connection: ListedConnection, part: CatalogPart, options: RequestOptions): Promise<Partial<CatalogLists>> {
  const declared: ServerCapabilities = connection.session.capabilities
  const list = <T>(method: string, key: keyof CatalogLists, isEntry: (value: unknown) => value is T) =>
    declared[part] === undefined ? Promise.resolve([]) : listAll({ connection, method, key, isEntry, options })
  switch (part) {
    case 'tools':
      return { tools: await list('tools/list', 'tools', isTool) }
    case 'prompts':
      return { prompts: await list('prompts/list', 'prompts', isNamed<Prompt>) }
    case 'resources': {
      const [resources, resourceTemplates] = await Promise.all([
        list('resources/list', 'resources', isResource),
        list('resources/templates/list', 'resourceTemplates', isTemplate).catch(emptyWhenUnknown),
      ])
      return { resources, resourceTemplates }
    }
  }
}

interface ListAll<T> {
  readonly connection: ListedConnection
  readonly method: string
  readonly key: keyof CatalogLists
  readonly isEntry: (value: unknown) => value is T
  readonly options: RequestOptions
}

async function listAll<T>({ connection, method, key, isEntry, options }: ListAll<T>): Promise<T[]> {
  const entries: T[] = []
  const seen = new Set<string>()
  let bytes = 0
  let cursor: string | undefined
  do {
    const frame = await connection.request(method, cursor === undefined ? undefined : { cursor }, options)
    const { result } = frame.message
    bytes += frame.bytes.length
    if (bytes > maxListBytes)
      throw new PkgdError('PROTOCOL_ERROR', `${connection.record.id} answers ${method} with more than ${maxListBytes} bytes`)
    const page = result[key]
    if (!Array.isArray(page) || !page.every(isEntry)) {
      throw new PkgdError('PROTOCOL_ERROR', `${connection.record.id} answered ${method} with something else than a list of ${key}`)
    }
    entries.push(...page)
    cursor = typeof result.nextCursor === 'string' ? result.nextCursor : undefined
    if (cursor !== undefined && (seen.has(cursor) || seen.size >= maxPages)) {
      throw new PkgdError('PROTOCOL_ERROR', `${connection.record.id} does not end the pages of ${method}`)
    }
    if (cursor !== undefined) seen.add(cursor)
  } while (cursor !== undefined)
  return entries
}

/** Templates have no capability of their own: a server with plain resources alone may not know the method. */
function emptyWhenUnknown(error: unknown): never[] {
  if (findRpcError(error)?.code === rpcCodes.methodNotFound) return []
  throw error
}

function isNamed<T extends { name: string }>(value: unknown): value is T {
  return isObject(value) && typeof value.name === 'string'
}
const isTool = (value: unknown): value is Tool => isNamed(value) && isObject((value as { inputSchema?: unknown }).inputSchema)
const isResource = (value: unknown): value is Resource => isObject(value) && typeof value.uri === 'string'
const isTemplate = (value: unknown): value is ResourceTemplateType => isObject(value) && typeof value.uriTemplate === 'string'
