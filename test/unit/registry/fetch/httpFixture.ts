import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HttpFixture {
  readonly url: string
  /** What was asked, in order. */
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers'] }[]
  /** Answers from now on. */
  answer: (request: IncomingMessage, response: ServerResponse) => void
  close(): Promise<void>
}

/** A web server on loopback whose answers a test decides. */
export async function createHttpFixture(): Promise<HttpFixture> {
  const requests: { path: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers })
    fixture.answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const fixture: HttpFixture = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (_request, response) => response.writeHead(404).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return fixture
}
