import { createSocket, type Socket } from 'node:dgram'
import { Resolver as Client } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createCleanups } from '../../../../daemon/core/disposables.ts'
import type { Logger } from '../../../../daemon/core/ports.ts'
import { parseQuestion, responseCode, toResponse } from '../../../../sandbox/network/dnsMessage.ts'
import { createLengthFrames, toLengthFrame } from '../../../../sandbox/network/dnsOverTcp.ts'
import { resolveReach } from '../../../../sandbox/network/resolveReach.ts'
import { createResolver, type NamePolicy } from '../../../../sandbox/network/resolver.ts'
import { parseResolvConf } from '../../../../sandbox/network/upstreamResolver.ts'

const log: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
let cleanups = createCleanups()
afterEach(async () => {
  await cleanups.run()
  cleanups = createCleanups()
})

async function start(names: NamePolicy, timeoutMs = 200) {
  const resolver = await createResolver({ address: '127.0.0.1', port: 0, names, log, timeoutMs })
  cleanups.add(() => resolver.close())
  const client = new Client({ timeout: 3000, tries: 1 })
  client.setServers([`127.0.0.1:${resolver.port}`])
  return { client, port: resolver.port }
}

/** A name server that does what `reply` says with each query; returns its address. */
async function startUpstream(reply: (query: Buffer, socket: Socket, peer: { port: number; address: string }) => void) {
  const socket = createSocket('udp4')
  socket.on('message', (query, peer) => reply(query, socket, peer))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  cleanups.add(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  return `127.0.0.1:${socket.address().port}`
}

const respond = (query: Buffer, addresses: readonly string[]) => {
  const question = parseQuestion(query)
  if (!question) throw new Error('not a question')
  return toResponse(query, question, responseCode.ok, addresses)
}

describe('createResolver, forwarding', () => {
  it('asks the upstream under an id and a port of its own', async () => {
    const seen: { id: number; port: number }[] = []
    const upstream = await startUpstream((query, socket, peer) => {
      seen.push({ id: query.readUInt16BE(0), port: peer.port })
      socket.send(respond(query, ['192.0.2.9']), peer.port, peer.address)
    })
    const { client } = await start({ forward: [upstream] })
    expect(await Promise.all(['a.test', 'b.test', 'c.test'].map((name) => client.resolve4(name)))).toEqual([
      ['192.0.2.9'],
      ['192.0.2.9'],
      ['192.0.2.9'],
    ])
    expect(new Set(seen.map(({ port }) => port)).size).toBe(3)
  })

  it('goes on to the next upstream when one is silent, and fails when all are', async () => {
    const silent = await startUpstream(() => undefined)
    const speaks = await startUpstream((query, socket, peer) => socket.send(respond(query, ['192.0.2.9']), peer.port, peer.address))
    expect(await (await start({ forward: [silent, speaks] })).client.resolve4('a.test')).toEqual(['192.0.2.9'])
    await expect((await start({ forward: [silent] })).client.resolve4('a.test')).rejects.toMatchObject({ code: 'ESERVFAIL' })
    await expect((await start({ forward: [] })).client.resolve4('a.test')).rejects.toMatchObject({ code: 'ESERVFAIL' })
  })

  it('takes no answer to another question or with another id', async () => {
    const upstream = await startUpstream((query, socket, peer) => {
      const forged = respond(query, ['192.0.2.66'])
      forged.writeUInt16BE((query.readUInt16BE(0) + 1) & 0xffff, 0)
      socket.send(forged, peer.port, peer.address, () => socket.send(respond(query, ['192.0.2.9']), peer.port, peer.address))
    })
    expect(await (await start({ forward: [upstream] })).client.resolve4('a.test')).toEqual(['192.0.2.9'])
  })

  it('speaks TCP, to the package and to the upstream', async () => {
    const upstream = createServer((socket) => {
      const frames = createLengthFrames()
      socket.on('data', (chunk) => frames(chunk).map((query) => socket.write(toLengthFrame(respond(query, ['192.0.2.9'])))))
    })
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    cleanups.add(() => new Promise<void>((resolve) => upstream.close(() => resolve())))
    const bound = upstream.address()
    if (bound === null || typeof bound === 'string') throw new Error('not a TCP address')
    const { port } = await start({ forward: [`127.0.0.1:${bound.port}`] })
    const query = Buffer.from('000101000001000000000000016104746573740000010001', 'hex')
    const socket = connect(port, '127.0.0.1')
    const framed = toLengthFrame(query)
    socket.write(framed.subarray(0, 5))
    socket.write(framed.subarray(5))
    const [reply] = (await once(socket, 'data')) as [Buffer]
    expect(reply.readUInt16BE(2)).toBe(1)
    expect([...reply.subarray(-4)]).toEqual([192, 0, 2, 9])
    socket.destroy()
  })

  it('says that nothing has an IPv6 address without asking', async () => {
    const { client } = await start({ forward: [] })
    await expect(client.resolve6('a.test')).rejects.toMatchObject({ code: 'ENODATA' })
  })
})

describe('createResolver, pinned', () => {
  it('knows its names, whatever their case, and no other', async () => {
    const { client } = await start({ pinned: new Map([['index.test', ['192.0.2.1', '192.0.2.2']]]) })
    expect(await client.resolve4('Index.TEST')).toEqual(['192.0.2.1', '192.0.2.2'])
    await expect(client.resolve4('other.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(client.resolveMx('index.test')).rejects.toMatchObject({ code: 'ENODATA' })
  })
})

describe('resolveReach', () => {
  const lookup = async (host: string) => {
    if (host === 'index.test') return ['192.0.2.1', '10.0.0.1']
    if (host === 'localhost') return ['127.0.0.1']
    throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
  }

  it('pins names and keeps addresses as they are', async () => {
    const targets = [
      { host: 'Index.test.', port: 443 },
      { host: 'index.test', port: 443 },
      { host: '10.9.9.9', port: 80 },
    ]
    expect(await resolveReach(targets, lookup)).toEqual({
      targets: [
        { address: '192.0.2.1', port: 443 },
        { address: '10.0.0.1', port: 443 },
        { address: '10.9.9.9', port: 80 },
      ],
      pinned: new Map([['index.test', ['192.0.2.1', '10.0.0.1']]]),
    })
  })

  it('refuses loopback and unknown names', async () => {
    await expect(resolveReach([{ host: 'localhost', port: 80 }], lookup)).rejects.toMatchObject({ code: 'NETWORK_UNSUPPORTED' })
    await expect(resolveReach([{ host: 'nowhere.test', port: 80 }], lookup)).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE' })
  })
})

describe('parseResolvConf', () => {
  it('takes the name servers, IPv6 ones too, and nothing else', () => {
    const text =
      '# nameserver 9.9.9.9\nsearch lan\nnameserver 192.0.2.53\n  nameserver\tfd00::53 # two\nnameserver fe80::1%eth0\nnameserver nonsense\n'
    expect(parseResolvConf(text)).toEqual(['192.0.2.53', 'fd00::53', 'fe80::1'])
  })
})
