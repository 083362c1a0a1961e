import type { Clock, Logger } from '../core/ports.ts'
import type { CatalogBook } from './catalogBook.ts'
import { type CatalogPart, catalogParts, listPart } from './listCatalog.ts'
import type { ListedConnection } from './mcpConnection.ts'

export interface ListFollower {
  /** Lists all parts anew; resolves when each has been listed or has failed, which is logged. */
  refreshAll(): Promise<void>
  /** Resolves when nothing is being listed. */
  settled(): Promise<void>
  /** A notification of the server; true when it was about its lists. */
  notified(method: string): boolean
}

export interface FollowListsOptions {
  readonly connection: ListedConnection
  readonly book: CatalogBook
  readonly timeoutMs: () => number
  readonly clock: Clock
  readonly log: Logger
}

/** The time between two listings of a part: a server that announces a change whenever it is listed would keep both sides busy for ever. */
const listAgainMs = 200

/** Keeps the catalog what the server's lists are. A part is listed once at a time: what is announced meanwhile is listed once more, however often it was. */
export function createListFollower({ connection, book, timeoutMs, clock, log }: FollowListsOptions): ListFollower {
  const listedAt = new Map<CatalogPart, number>()
  const underWay = new Map<CatalogPart, { again: boolean; done: Promise<void> }>()

  const listOnce = async (part: CatalogPart): Promise<void> => {
    try {
      book.put(connection.record, connection.session, await listPart(connection, part, { timeoutMs: timeoutMs() }))
    } catch (error) {
      log.warn(`The ${part} of the package could not be listed`, { error: error instanceof Error ? error.message : String(error) })
    }
  }

  const untilDue = (part: CatalogPart): Promise<void> | undefined => {
    const left = (listedAt.get(part) ?? Number.NEGATIVE_INFINITY) + listAgainMs - clock.now()
    return left > 0 ? new Promise((resolve) => clock.after(left, resolve)) : undefined
  }

  const refresh = (part: CatalogPart): Promise<void> => {
    const current = underWay.get(part)
    if (current) {
      current.again = true
      return current.done
    }
    const entry = { again: false, done: Promise.resolve() }
    const run = async () => {
      do {
        const due = untilDue(part)
        if (due) await due
        entry.again = false
        listedAt.set(part, clock.now())
        await listOnce(part)
      } while (entry.again)
      underWay.delete(part)
    }
    underWay.set(part, entry)
    entry.done = run()
    return entry.done
  }

  return {
    async refreshAll() {
      await Promise.all(catalogParts.map(refresh))
    },
    async settled() {
      await Promise.all([...underWay.values()].map(({ done }) => done))
    },
    notified(method) {
      const part = catalogParts.find((candidate) => method === `notifications/${candidate}/list_changed`)
      if (part) void refresh(part)
      return part !== undefined
    },
  }
}
