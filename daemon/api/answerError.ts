import type { FastifyReply, FastifyRequest } from 'fastify'
import { isPackageFault } from '../core/errors.ts'
import type { Logger } from '../core/ports.ts'
import { toProblem } from './toProblem.ts'
import { toRequestError } from './toRequestError.ts'

/** Answers whatever a request ended with as a problem; what is pkgd's own fault is logged whole. */
export function createErrorAnswer({ log, bodyLimit }: { readonly log: Logger; readonly bodyLimit: number }) {
  return (thrown: unknown, { method, routeOptions }: Pick<FastifyRequest, 'method' | 'routeOptions'>, reply: FastifyReply) => {
    const error = toRequestError(thrown, bodyLimit)
    const problem = toProblem(error)
    const fields = { method, route: routeOptions.url, code: error.code }
    if (isPackageFault(error.code)) log.info('a package failed a request', { ...fields, detail: error.message })
    else if (problem.status >= 500) log.error('a request failed', { ...fields, error: thrown })
    else log.debug('a request was refused', { ...fields, detail: error.message })
    if (error.code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer realm="pkgd"')
    return reply
      .status(problem.status)
      .header('content-type', 'application/problem+json')
      .send(Buffer.from(JSON.stringify(problem)))
  }
}
