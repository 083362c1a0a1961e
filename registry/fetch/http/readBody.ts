import type { Readable } from 'node:stream'
import { PkgdError } from '../../../daemon/core/errors.ts'
import type { HttpRequest } from './httpExchange.ts'
import { toUnreachable } from './toUnreachable.ts'

/** A whole body as text, of at most `mostBytes`. Errors: REGISTRY_UNREACHABLE. */
export async function readBody(body: Readable, mostBytes: number, request: HttpRequest): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += (chunk as Buffer).length
      if (size > mostBytes) {
        throw new PkgdError('REGISTRY_UNREACHABLE', `${new URL(request.url).host} sent more than ${mostBytes} bytes of metadata`)
      }
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    throw toUnreachable(error, request)
  }
  return Buffer.concat(chunks).toString('utf8')
}
