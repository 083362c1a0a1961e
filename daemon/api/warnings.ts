import type { FastifyReply } from 'fastify'

/** A list is a bare array: what it lacks is said beside it, as a JSON array of texts in this header. */
export const warningsHeader = 'x-pkgd-warnings'

/** Header values are Latin-1: what is beyond ASCII is escaped, as JSON may. */
const toAscii = (json: string): string =>
  json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

export function setWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  if (warnings.length > 0) reply.header(warningsHeader, toAscii(JSON.stringify(warnings)))
}
