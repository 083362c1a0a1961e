import type { Duplex } from 'node:stream'
import { PkgdError } from '../core/errors.ts'
import { toProblem } from './toProblem.ts'

/** Not imported: see listen. */
const { STATUS_CODES } = process.getBuiltinModule('node:http')

function toError({ code }: { readonly code?: string }): PkgdError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new PkgdError('HEADERS_TOO_LARGE', 'The request line and its headers are larger than the daemon reads', {
      hint: 'send what is long in the body',
    })
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new PkgdError('REQUEST_TIMEOUT', 'The request did not arrive whole in time')
  return new PkgdError('USAGE', 'The request is not HTTP')
}

/** What could not even be read as a request is answered with a problem too, on a connection that then ends. For a server's `clientError`. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = toProblem(toError(error))
  const body = JSON.stringify(problem)
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
