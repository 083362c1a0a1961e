import type { Implementation } from '@modelcontextprotocol/client'
import { hasCode } from '../core/errors.ts'
import type { Logger } from '../core/ports.ts'
import { isObject } from '../rpc/parseMessage.ts'
import { catalogParts } from './listCatalog.ts'
import { type McpConnection, withMeta } from './mcpConnection.ts'
import type { McpSession } from './mcpSession.ts'
import { toEnvelope } from './protocol.ts'

export interface AnnouncementOptions {
  readonly connection: McpConnection
  readonly clientInfo: Implementation
  readonly saveSession: (session: McpSession) => void
  readonly log: Logger
}

/**
 * Asks a server of the modern era to announce changes of its lists for as long as it runs; one of the legacy era does so unasked. What a former
 * daemon had asked for is cancelled first.
 */
export function askForAnnouncements({ connection, clientInfo, saveSession, log }: AnnouncementOptions): void {
  const { session, peer } = connection
  if (session.era === 'legacy') return
  if (session.listenId !== null) peer.notify('notifications/cancelled', { requestId: session.listenId })
  const notifications = toListenFilter(session)
  if (notifications === undefined) return
  const params = withMeta({ notifications }, toEnvelope(session.version, clientInfo))
  peer
    .request('subscriptions/listen', params, { onId: (listenId) => saveSession({ ...session, listenId }) })
    .then(() => log.debug('The package ended its announcements'))
    .catch((error: unknown) => {
      if (hasCode(error, 'UPSTREAM_ERROR')) log.warn('The package does not announce changes of its lists', { error: String(error) })
    })
}

/** The changes that the server can announce, in the words of `subscriptions/listen`; undefined when there are none. */
function toListenFilter({ capabilities }: McpSession): Record<string, true> | undefined {
  const announced = catalogParts.filter((part) => isObject(capabilities[part]) && capabilities[part].listChanged === true)
  return announced.length === 0 ? undefined : Object.fromEntries(announced.map((part) => [`${part}ListChanged`, true]))
}
