import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../../../cli/client.ts'
import { locateHome } from '../../../daemon/core/home.ts'

let folder: string
let server: Server | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pkgd-client-'))
})
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
  rmSync(folder, { recursive: true })
})

const home = () => locateHome({ PKGD_HOME: folder })
const serve = (listener: RequestListener) =>
  new Promise<void>((resolve) => {
    server = createServer(listener).listen(home().socket, resolve)
  })
const client = (autostart: (() => Promise<void>) | null = null) =>
  createClient({ home: home(), url: undefined, token: 'secret', autostart })

describe('the client', () => {
  it('starts the daemon once when nothing listens, and asks again', async () => {
    let starts = 0
    const started = client(async () => {
      starts++
      await serve((_, response) => response.end('[1]'))
    })
    expect(await started.get('/v1/packages')).toEqual([1])
    expect(await started.post('/v1/packages', {})).toEqual([1])
    expect(starts).toBe(1)
  })

  it('never sends a request that changes something twice', async () => {
    const seen: string[] = []
    await serve((request) => {
      seen.push(`${request.method}`)
      request.socket.destroy()
    })
    await expect(client(async () => undefined).post('/v1/tools/call', {})).rejects.toMatchObject({
      code: 'DAEMON_UNREACHABLE',
      message: expect.stringContaining('is not known'),
    })
    expect(seen).toEqual(['POST'])
  })

  it('says so when the answer is cut', async () => {
    await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('[')
      setImmediate(() => response.destroy())
    })
    await expect(client().post('/v1/packages', {})).rejects.toMatchObject({ code: 'DAEMON_UNREACHABLE' })
  })

  it('follows the pages of a list', async () => {
    await serve((request, response) => {
      if (request.url === '/v1/tools?cursor=2') return response.end('[3]')
      response.setHeader('link', '</v1/tools?cursor=2>; rel="next"')
      return response.end('[1,2]')
    })
    expect(await client().list('/v1/tools')).toEqual([1, 2, 3])
  })

  it('throws the problem that a stream ends with', async () => {
    await serve((_, response) => {
      response.setHeader('content-type', 'text/event-stream')
      response.end('data: {"n":1}\n\nevent: error\ndata: {"code":"NOT_RUNNING","detail":"x is stopped","hint":"pkg start x"}\n\n')
    })
    const seen: unknown[] = []
    const read = async () => {
      for await (const event of client().stream('/v1/packages/x/logs')) seen.push(event)
    }
    await expect(read()).rejects.toMatchObject({ code: 'NOT_RUNNING', message: 'x is stopped', hint: 'pkg start x' })
    expect(seen).toEqual([{ n: 1 }])
  })

  it('takes what is no problem document for what it is', async () => {
    await serve((_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<html>'))
    await expect(client().get('/v1/info')).rejects.toMatchObject({ code: 'DAEMON_UNREACHABLE' })
  })

  it.each(['notaurl', 'ftp://x', '127.0.0.1:7433'])('PKGD_URL=%s is a usage error', (url) =>
    expect(() => createClient({ home: home(), url, token: undefined, autostart: null })).toThrow(
      expect.objectContaining({ code: 'USAGE' }),
    ),
  )
})
