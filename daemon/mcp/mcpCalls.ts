import type { CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client'
import { nearestKey } from '../../registry/manifest/nearestKey.ts'
import { type ErrorCode, PkgdError } from '../core/errors.ts'
import { isObject } from '../rpc/parseMessage.ts'
import type { Frame, RpcResult } from '../rpc/rpc.ts'
import { findRpcError, rpcCodes } from '../rpc/rpcFailure.ts'
import type { PackageRecord, State } from '../store/state.ts'
import { type Catalog, type CatalogLists, emptyLists } from './catalog.ts'
import type { CatalogBook } from './catalogBook.ts'
import type { LiveServer } from './liveServer.ts'
import type { McpConnection } from './mcpConnection.ts'
import type { CallOptions, McpService } from './mcpService.ts'
import { mcpCodes } from './protocol.ts'
import type { ArgumentChecker } from './toolArguments.ts'

export interface McpCallsDeps {
  readonly state: { readonly packages: Pick<State['packages'], 'get' | 'list'> }
  readonly book: CatalogBook
  readonly live: ReadonlyMap<string, LiveServer>
  readonly checker: ArgumentChecker
  /** Resolves when the package runs: starts a sleeping one. Errors: NOT_RUNNING. */
  readonly ensureRunning: (packageId: string, signal: AbortSignal) => Promise<void>
  readonly timeoutMs: () => number
}

/** Calls of running MCP packages, and the lists of all. */
export function createMcpCalls({ state, book, live, checker, ensureRunning, timeoutMs }: McpCallsDeps): McpService {
  const recordOf = (packageId: string): PackageRecord => {
    const record = live.get(packageId)?.connection.record ?? state.packages.get(packageId)
    if (record) return record
    const known = state.packages.list().map(({ id }) => id)
    throw notFound('PACKAGE_NOT_FOUND', `There is no package ${packageId}`, packageId, known)
  }

  const connect = async (packageId: string, signal: AbortSignal): Promise<LiveServer> => {
    await ensureRunning(packageId, signal)
    const server = live.get(packageId)
    if (server) return server
    throw new PkgdError('NOT_RUNNING', `${packageId} is not running`, { hint: `pkg start ${packageId}` })
  }

  const request = async (packageId: string, method: string, params: Record<string, unknown>, options: CallOptions) => {
    const { connection } = await connect(packageId, options.signal)
    const frame = await connection.request(method, params, {
      signal: options.signal,
      timeoutMs: options.timeoutMs ?? timeoutMs(),
      onProgress: (progress) => {
        if (options.onProgress && typeof progress.progress === 'number') options.onProgress(toProgress(progress, progress.progress))
      },
    })
    return completeResult(connection, method, frame)
  }

  const each = <T>(packageId: string | undefined, pick: (catalog: Catalog) => readonly T[]) => {
    const records = packageId === undefined ? state.packages.list() : [recordOf(packageId)]
    return records.flatMap((record) => {
      const catalog = record.manifest.type === 'mcp-server' ? book.get(record) : undefined
      return catalog ? pick(catalog).map((entry) => ({ ...entry, package: record.id })) : []
    })
  }

  /**
   * What `find` finds in the package's lists. Of a package that was never listed nothing is known before it runs, and what is not found may be in a
   * list that is just being fetched.
   */
  const lookUp = async <T>(
    packageId: string,
    signal: AbortSignal,
    find: (lists: CatalogLists) => T | undefined,
  ): Promise<T | undefined> => {
    const record = recordOf(packageId)
    if (record.manifest.type === 'mcp-server' && book.get(record) === undefined) await connect(packageId, signal)
    const found = find(book.get(record) ?? emptyLists)
    const lists = live.get(packageId)?.lists
    if (found !== undefined || lists === undefined) return found
    await lists.settled()
    return find(book.get(record) ?? emptyLists)
  }

  const listsOf = (packageId: string): CatalogLists => book.get(recordOf(packageId)) ?? emptyLists

  return {
    tools: (packageId) => each(packageId, (catalog) => catalog.tools),
    resources: (packageId) => each(packageId, (catalog) => catalog.resources),
    resourceTemplates: (packageId) => each(packageId, (catalog) => catalog.resourceTemplates),
    prompts: (packageId) => each(packageId, (catalog) => catalog.prompts),

    async callTool(packageId, name, args, options) {
      const tool = await lookUp(packageId, options.signal, ({ tools }) => tools.find((candidate) => candidate.name === name))
      if (tool === undefined) {
        const known = listsOf(packageId).tools.map((candidate) => candidate.name)
        throw notFound('TOOL_NOT_FOUND', `${packageId} has no tool ${name}`, name, known)
      }
      const issues = checker.check(packageId, tool, args)
      if (issues.length > 0) {
        throw new PkgdError('ARGUMENTS_INVALID', `The arguments of ${packageId}/${name} break its schema`, {
          hint: `pkg tools ${packageId} --json shows the schema`,
          issues,
        })
      }
      return (await request(packageId, 'tools/call', { name, arguments: args }, options)) as CallToolResult
    },

    async readResource(packageId, uri, options) {
      try {
        return (await request(packageId, 'resources/read', { uri }, options)) as ReadResourceResult
      } catch (error) {
        const code = findRpcError(error)?.code
        if (code !== mcpCodes.resourceNotFound && code !== rpcCodes.invalidParams) throw error
        const known = listsOf(packageId).resources.map((resource) => resource.uri)
        throw notFound('RESOURCE_NOT_FOUND', `${packageId} has no resource ${uri}`, uri, known, error)
      }
    },

    async getPrompt(packageId, name, args, options) {
      const isKnown = await lookUp(packageId, options.signal, ({ prompts }) => prompts.find((prompt) => prompt.name === name))
      if (!isKnown) {
        const known = listsOf(packageId).prompts.map((prompt) => prompt.name)
        throw notFound('PROMPT_NOT_FOUND', `${packageId} has no prompt ${name}`, name, known)
      }
      return (await request(packageId, 'prompts/get', { name, arguments: args }, options)) as GetPromptResult
    },

    async complete(packageId, params, options) {
      recordOf(packageId)
      return (await request(packageId, 'completion/complete', params, options)) as CompleteResult
    },
  }
}

/** The result as it came; one that asks for input (revision 2026-07-28) ends in an error, since nobody downstream could give it. */
function completeResult(connection: McpConnection, method: string, { message: { result } }: Frame<RpcResult>): Record<string, unknown> {
  if (connection.session.era === 'legacy' || result.resultType !== 'input_required') return result
  const wanted = isObject(result.inputRequests)
    ? Object.values(result.inputRequests).map((input) => (isObject(input) ? input.method : input))
    : []
  throw new PkgdError(
    'UPSTREAM_ERROR',
    `${connection.record.id} needs input to finish ${method} (${[...new Set(wanted)].join(', ') || 'input_required'}), which this call cannot give`,
    { hint: 'call it from an MCP client that can answer such requests' },
  )
}

function notFound(code: ErrorCode, message: string, name: string, known: readonly string[], cause?: unknown): PkgdError {
  const nearest = nearestKey(name, known)
  if (nearest === undefined) return new PkgdError(code, message, { hint: 'there are none', cause })
  const guess = nearest.close ? `did you mean ${nearest.key}?` : `the nearest is ${nearest.key}; there are ${sample(known)}`
  return new PkgdError(code, message, { hint: guess, cause })
}

const sample = (names: readonly string[]): string => (names.length > 12 ? `${names.slice(0, 12).join(', ')}, …` : names.join(', '))

function toProgress({ total, message }: Record<string, unknown>, progress: number) {
  return { progress, ...(typeof total === 'number' && { total }), ...(typeof message === 'string' && { message }) }
}
