import type { CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client'
import { PkgdError } from '../core/errors.ts'
import type { Clock } from '../core/ports.ts'
import { toNotFound, toPackageNotFound } from '../lifecycle/notFound.ts'
import { createPackageRedactor } from '../lifecycle/packageRedactor.ts'
import { isObject } from '../rpc/parseMessage.ts'
import type { Frame, RpcResult } from '../rpc/rpc.ts'
import { findRpcError, rpcCodes } from '../rpc/rpcFailure.ts'
import type { PackageRecord, State } from '../store/state.ts'
import { type CallDeadline, createCallDeadline } from './callDeadline.ts'
import { type Catalog, type CatalogLists, emptyLists } from './catalog.ts'
import type { CatalogBook } from './catalogBook.ts'
import { type CallMethod, checkResult } from './checkResult.ts'
import type { LiveServer } from './liveServer.ts'
import type { McpConnection } from './mcpConnection.ts'
import type { CallOptions, McpService } from './mcpService.ts'
import { mcpCodes } from './protocol.ts'
import type { ArgumentChecker } from './toolArguments.ts'

export interface McpCallsDeps {
  readonly state: Pick<State, 'secrets'> & { readonly packages: Pick<State['packages'], 'get' | 'list'> }
  readonly book: CatalogBook
  readonly live: ReadonlyMap<string, LiveServer>
  readonly checker: ArgumentChecker
  /** Resolves when the package runs: starts a sleeping one. Errors: NOT_RUNNING. */
  readonly ensureRunning: (packageId: string, signal: AbortSignal) => Promise<void>
  readonly timeoutMs: () => number
  readonly clock: Clock
}

/** One call: what is done for it, and until when. */
interface Call {
  readonly packageId: string
  readonly method: CallMethod
  readonly options: CallOptions
  readonly deadline: CallDeadline
}

/** Calls of running MCP packages, and the lists of all. */
export function createMcpCalls({ state, book, live, checker, ensureRunning, timeoutMs, clock }: McpCallsDeps): McpService {
  const recordOf = (packageId: string): PackageRecord => {
    const record = live.get(packageId)?.connection.record ?? state.packages.get(packageId)
    if (record) return record
    throw toPackageNotFound(
      packageId,
      state.packages.list().map(({ id }) => id),
    )
  }

  /** One deadline for all that a call waits for. What it ends with may quote the package: its secrets are taken out. */
  const within = async <T>(
    packageId: string,
    method: CallMethod,
    options: CallOptions,
    body: (call: Call) => Promise<Record<string, unknown>>,
  ): Promise<T> => {
    const record = recordOf(packageId)
    using deadline = createCallDeadline({ name: packageId, method, ms: options.timeoutMs ?? timeoutMs(), signal: options.signal, clock })
    try {
      return (await body({ packageId, method, options, deadline })) as T
    } catch (error) {
      throw createPackageRedactor(record, state.secrets).error(error)
    }
  }

  const connect = async ({ packageId, deadline }: Call): Promise<LiveServer> => {
    await deadline.wait('the package to run', (signal) => ensureRunning(packageId, signal))
    const server = live.get(packageId)
    if (server) return server
    throw new PkgdError('NOT_RUNNING', `${packageId} is not running`, { hint: `pkg start ${packageId}` })
  }

  const request = async (call: Call, params: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const { packageId, method, options, deadline } = call
    const { connection } = await connect(call)
    const frame = await deadline.wait('its answer', (signal) =>
      connection.request(method, params, {
        signal,
        onProgress: (progress) => {
          deadline.extend()
          if (options.onProgress && typeof progress.progress === 'number') options.onProgress(toProgress(progress, progress.progress))
        },
      }),
    )
    return checkResult(packageId, method, completeResult(connection, method, frame))
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
  const lookUp = async <T>(call: Call, find: (lists: CatalogLists) => T | undefined): Promise<T | undefined> => {
    const { packageId, deadline } = call
    const record = recordOf(packageId)
    if (record.manifest.type === 'mcp-server' && book.get(record) === undefined) await connect(call)
    const found = find(book.get(record) ?? emptyLists)
    const lists = live.get(packageId)?.lists
    if (found !== undefined || lists === undefined) return found
    await deadline.wait('its lists', () => lists.settled())
    return find(book.get(record) ?? emptyLists)
  }

  const listsOf = (packageId: string): CatalogLists => book.get(recordOf(packageId)) ?? emptyLists

  return {
    tools: (packageId) => each(packageId, (catalog) => catalog.tools),
    resources: (packageId) => each(packageId, (catalog) => catalog.resources),
    resourceTemplates: (packageId) => each(packageId, (catalog) => catalog.resourceTemplates),
    prompts: (packageId) => each(packageId, (catalog) => catalog.prompts),

    callTool: (packageId, name, args, options) =>
      within<CallToolResult>(packageId, 'tools/call', options, async (call) => {
        const tool = await lookUp(call, ({ tools }) => tools.find((candidate) => candidate.name === name))
        if (tool === undefined) {
          const known = listsOf(packageId).tools.map((candidate) => candidate.name)
          throw toNotFound({ code: 'TOOL_NOT_FOUND', message: `${packageId} has no tool ${name}`, name, known })
        }
        const issues = checker.check(packageId, tool, args)
        if (issues.length > 0) {
          throw new PkgdError('ARGUMENTS_INVALID', `The arguments of ${packageId}/${name} break its schema`, {
            hint: `pkg tools ${packageId} --json shows the schema`,
            issues,
          })
        }
        return request(call, { name, arguments: args })
      }),

    readResource: (packageId, uri, options) =>
      within<ReadResourceResult>(packageId, 'resources/read', options, async (call) => {
        try {
          return await request(call, { uri })
        } catch (error) {
          const code = findRpcError(error)?.code
          if (code !== mcpCodes.resourceNotFound && code !== rpcCodes.invalidParams) throw error
          const known = listsOf(packageId).resources.map((resource) => resource.uri)
          throw toNotFound({ code: 'RESOURCE_NOT_FOUND', message: `${packageId} has no resource ${uri}`, name: uri, known, cause: error })
        }
      }),

    getPrompt: (packageId, name, args, options) =>
      within<GetPromptResult>(packageId, 'prompts/get', options, async (call) => {
        const isKnown = await lookUp(call, ({ prompts }) => prompts.find((prompt) => prompt.name === name))
        if (!isKnown) {
          const known = listsOf(packageId).prompts.map((prompt) => prompt.name)
          throw toNotFound({ code: 'PROMPT_NOT_FOUND', message: `${packageId} has no prompt ${name}`, name, known })
        }
        return request(call, { name, arguments: args })
      }),

    complete: (packageId, params, options) =>
      within<CompleteResult>(packageId, 'completion/complete', options, (call) => request(call, params)),
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

function toProgress({ total, message }: Record<string, unknown>, progress: number) {
  return { progress, ...(typeof total === 'number' && { total }), ...(typeof message === 'string' && { message }) }
}
