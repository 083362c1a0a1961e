import { hasCode, PkgdError } from '../core/errors.ts'
import type { Logger } from '../core/ports.ts'
import type { EventBus } from '../events/eventBus.ts'
import type { HostContext, HostSession, PackageHost } from '../lifecycle/packageHost.ts'
import { createPackageRedactor } from '../lifecycle/packageRedactor.ts'
import type { PackageRecord, State } from '../store/state.ts'
import { askForAnnouncements } from './announcements.ts'
import { createCatalogBook } from './catalogBook.ts'
import { createListFollower } from './followLists.ts'
import { askAlive } from './handshake.ts'
import type { LiveServer } from './liveServer.ts'
import { createMcpCalls } from './mcpCalls.ts'
import type { McpConnection } from './mcpConnection.ts'
import type { McpService } from './mcpService.ts'
import { type OpenConnectionDeps, openConnection } from './openConnection.ts'
import { createArgumentChecker } from './toolArguments.ts'

export interface McpHostDeps extends OpenConnectionDeps {
  readonly state: Pick<State, 'catalogs' | 'secrets'> & { readonly packages: Pick<State['packages'], 'get' | 'list'> }
  readonly events: Pick<EventBus, 'publish'>
  readonly log: Logger
  /** Of a call without a timeout of its own. */
  readonly callTimeoutMs: () => number
  /** Resolves when the package runs: starts a sleeping one. Errors: NOT_RUNNING. */
  readonly ensureRunning: (packageId: string, signal: AbortSignal) => Promise<void>
}

export interface McpHost {
  /** Speaks with each running package. */
  readonly host: PackageHost
  /** What others ask of the packages. */
  readonly service: McpService
  /** The running servers by package id, for whoever relays frames. */
  readonly live: ReadonlyMap<string, LiveServer>
}

/** How long a start waits for the first lists of a package version; later they are listed behind its back. */
const firstListsMs = 5_000

/** The MCP client of the daemon. */
export function createMcpHost(deps: McpHostDeps): McpHost {
  const { state, events, clock, clientInfo, callTimeoutMs } = deps
  const log = deps.log.child({ part: 'mcp' })
  const book = createCatalogBook({ state, events, log })
  const live = new Map<string, LiveServer>()

  /** What is logged of a package may quote it: its secrets are taken out. */
  const logOf = (id: string, record: PackageRecord | undefined): Logger => {
    const own = log.child({ package: id })
    return record ? createPackageRedactor(record, state.secrets).logger(own) : own
  }

  const connect = async (context: HostContext, signal: AbortSignal): Promise<HostSession> => {
    const { record } = context
    const known = book.get(record)
    const packageLog = logOf(record.id, record)
    const connection = await openConnection(deps, { context, era: known?.era, signal, log: packageLog })
    const { peer } = connection
    const lists = createListFollower({ connection, book, timeoutMs: callTimeoutMs, clock, log: packageLog })
    peer.onNotification((method, params) => {
      if (!lists.notified(method)) packageLog.debug('The package notified', { method, level: params?.level })
    })
    const server = { connection, lists }
    live.set(record.id, server)
    void peer.closed.then(() => {
      if (live.get(record.id) === server) live.delete(record.id)
    })
    askForAnnouncements({ connection, clientInfo, saveSession: context.saveSession, log: packageLog })
    const listed = lists.refreshAll()
    if (known === undefined) await Promise.race([listed, new Promise<void>((resolve) => clock.after(firstListsMs, resolve))])
    return toHostSession(connection)
  }

  const toHostSession = (connection: McpConnection): HostSession => ({
    probe: (signal) => probe(connection, signal),
    async close(reason) {
      connection.peer.close(reason)
    },
    get pending() {
      return connection.underWay
    },
    closed: connection.peer.closed,
  })

  /** What a busy server sends in the meantime, such as progress, is as good as an answer. */
  const probe = async (connection: McpConnection, signal: AbortSignal): Promise<void> => {
    const since = clock.now()
    try {
      await askAlive(connection.peer, connection.session, clientInfo, { signal })
    } catch (error) {
      const isBusy = connection.underWay > 0 && connection.peer.lastHeardAt > since
      if (!isBusy && !hasCode(error, 'UPSTREAM_ERROR')) throw error
    }
  }

  return {
    host: {
      async connect(context, signal) {
        const { id, manifest } = context.record
        const { entry } = manifest
        if (entry.kind !== 'mcp' || entry.transport.kind !== 'stdio') {
          const what = entry.kind === 'mcp' ? `an MCP server over ${entry.transport.kind}` : 'no MCP server'
          throw new PkgdError('TYPE_NOT_HOSTED', `${id} is ${what}; this daemon speaks MCP over stdio`)
        }
        return connect(context, signal)
      },
      forget: book.forget,
    },
    service: createMcpCalls({
      state,
      book,
      live,
      checker: createArgumentChecker((id) => logOf(id, live.get(id)?.connection.record ?? state.packages.get(id))),
      ensureRunning: deps.ensureRunning,
      timeoutMs: callTimeoutMs,
      clock,
    }),
    live,
  }
}
