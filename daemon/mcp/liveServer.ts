import type { ListFollower } from './followLists.ts'
import type { McpConnection } from './mcpConnection.ts'

/** A server that this daemon speaks with. */
export interface LiveServer {
  readonly connection: McpConnection
  readonly lists: ListFollower
}
