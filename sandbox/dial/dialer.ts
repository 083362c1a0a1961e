import { connect } from 'node:net'

/** Runs inside a sandbox's network namespace: connects to a port there and sends the socket to its parent. argv: the port. */
const socket = connect({ host: '127.0.0.1', port: Number(process.argv[2]) })
socket.on('error', (error) => {
  process.stderr.write(error.message)
  process.exit(1)
})
socket.on('connect', () => {
  socket.pause()
  process.send?.('connected', socket, {}, () => process.disconnect?.())
})
