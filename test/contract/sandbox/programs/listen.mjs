// Echoes on the TCP port that is its first argument; says when it listens.
import { createServer } from 'node:net'

createServer((connection) => connection.on('error', () => connection.destroy()).pipe(connection)).listen(Number(process.argv[2]), () => {
  process.stdout.write('listening\n')
})
process.stdin.resume()
