import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Stands between the driver and the real engine, so that a test can take the engine away or let one of its answers be another. */
export interface EngineProxy extends AsyncDisposable {
  /** What DOCKER_HOST names it by. */
  readonly host: string
  /** How many connections it has carried. */
  readonly connections: () => number
  /** The engine is gone: its socket is, and every connection breaks. */
  cut(): Promise<void>
  restore(): Promise<void>
  /** Requests whose first line matches are answered with this error instead, until it is taken back. */
  refuse(requests: RegExp, status: number, message: string): () => void
  /** What matches in a request is sent on as `replacement`, of the same length, until it is taken back. */
  alter(text: string, replacement: string): () => void
}

export async function openEngineProxy(engine = '/var/run/docker.sock'): Promise<EngineProxy> {
  const directory = await mkdtemp(join(tmpdir(), 'pkgd-engine-'))
  const path = join(directory, 'engine.sock')
  const open = new Set<Socket>()
  const refusals = new Set<{ requests: RegExp; answer: string }>()
  const alterations = new Set<{ text: string; replacement: string }>()
  let carried = 0
  let server: Server | undefined

  function carry(client: Socket): void {
    carried += 1
    const upstream = connect(engine)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    upstream.pipe(client)
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      const refused = [...refusals].find(({ requests }) => requests.test(text.slice(0, text.indexOf('\r\n'))))
      if (refused) {
        client.end(refused.answer)
        return
      }
      const altered = [...alterations].reduce((sent, { text: from, replacement }) => sent.replaceAll(from, replacement), text)
      upstream.write(Buffer.from(altered, 'latin1'))
    })
  }
  const listen = () =>
    new Promise<void>((resolve) => {
      server = createServer(carry)
      server.listen(path, resolve)
    })
  const cut = async () => {
    const closed = new Promise((resolve) => server?.close(resolve))
    for (const socket of open) socket.destroy()
    await closed
  }

  await listen()
  return {
    host: `unix://${path}`,
    connections: () => carried,
    cut,
    restore: listen,
    refuse(requests, status, message) {
      const body = JSON.stringify({ message })
      const head = `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`
      const refusal = { requests, answer: head + body }
      refusals.add(refusal)
      return () => refusals.delete(refusal)
    },
    alter(text, replacement) {
      const alteration = { text, replacement }
      alterations.add(alteration)
      return () => alterations.delete(alteration)
    },
    async [Symbol.asyncDispose]() {
      if (server?.listening) await cut()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
