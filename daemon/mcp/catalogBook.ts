import type { Logger } from '../core/ports.ts'
import type { EventBus } from '../events/eventBus.ts'
import type { PackageRecord, State } from '../store/state.ts'
import { type Catalog, type CatalogLists, emptyLists, parseCatalog } from './catalog.ts'
import { type CatalogPart, catalogParts } from './listCatalog.ts'
import type { McpSession } from './mcpSession.ts'

/** The catalogs of the installed package versions: in memory, and in the store. */
export interface CatalogBook {
  get(record: Pick<PackageRecord, 'id' | 'tree'>): Catalog | undefined
  /** Keeps what a running server says of itself and what was listed of it; what changed is published. */
  put(record: Pick<PackageRecord, 'id' | 'tree'>, session: McpSession, lists: Partial<CatalogLists>): void
  forget(packageId: string): void
}

export interface CatalogBookDeps {
  readonly state: Pick<State, 'catalogs'>
  readonly events: Pick<EventBus, 'publish'>
  readonly log: Logger
}

export function createCatalogBook({ state, events, log }: CatalogBookDeps): CatalogBook {
  const open = new Map<string, { tree: string; catalog: Catalog }>()

  const get: CatalogBook['get'] = ({ id, tree }) => {
    const held = open.get(id)
    if (held?.tree === tree) return held.catalog
    const stored = state.catalogs.get(id, tree)
    if (stored === undefined) return undefined
    const catalog = parseCatalog(stored.value)
    if (catalog === undefined) log.warn('The stored catalog of a package is of another form; it is listed again', { package: id })
    else open.set(id, { tree, catalog })
    return catalog
  }

  return {
    get,
    put(record, { era, serverInfo, instructions }, lists) {
      const { id, tree } = record
      const before = get(record)
      const catalog: Catalog = { ...emptyLists, ...before, ...lists, era, serverInfo, instructions }
      if (before !== undefined && isSame(before, catalog)) return
      state.catalogs.put({ packageId: id, tree, value: catalog })
      open.set(id, { tree, catalog })
      for (const part of catalogParts) {
        if (!isSame(partOf(before ?? emptyLists, part), partOf(catalog, part))) {
          events.publish(`${part}.changed`, id, { count: catalog[part].length })
        }
      }
    },
    forget(packageId) {
      open.delete(packageId)
      state.catalogs.remove(packageId)
    },
  }
}

const partOf = (lists: CatalogLists, part: CatalogPart): unknown =>
  part === 'resources' ? [lists.resources, lists.resourceTemplates] : lists[part]

/** Servers list in a stable order and with stable keys; where one does not, a needless event is all that follows. */
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
