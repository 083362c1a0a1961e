import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { parseQuestion, responseCode, toResponse } from '../../../sandbox/network/dnsMessage.ts'

/** Plays the internet inside a network namespace: a service on every address, and a name server. argv: address of the name server, port of the service. */
const [nameServer = '', port = ''] = process.argv.slice(2)

createServer((socket) => socket.on('error', () => socket.destroy()).end(`${socket.remoteAddress}\n`)).listen(Number(port), () => {
  const names = createSocket('udp4')
  names.on('message', (query, peer) => {
    const question = parseQuestion(query)
    if (question) names.send(toResponse(query, question, responseCode.ok, [nameServer]), peer.port, peer.address)
  })
  names.bind(53, nameServer, () => process.stdout.write('ready\n'))
})
