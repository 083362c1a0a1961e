import { Resolver } from 'node:dns/promises'
import { connect, createServer } from 'node:net'

/**
 * Tries one thing from inside a namespace and prints what came of it. argv: `tcp <address> <port>` or `dns <server> <name> <A|AAAA>`; `listen <port>` is there
 * to be tried. */
const [kind, target = '', argument = '', type = 'A'] = process.argv.slice(2)

function tryTcp(): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: target, port: Number(argument), timeout: 4000 })
    socket.on('data', (data) => resolve(`open ${data.toString().trim()}`))
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.on('timeout', () => resolve('TIMEOUT'))
    socket.on('end', () => resolve('open'))
  })
}

async function tryDns(): Promise<string> {
  const resolver = new Resolver({ timeout: 1500, tries: 1 })
  resolver.setServers([target])
  try {
    return (await (type === 'AAAA' ? resolver.resolve6(argument) : resolver.resolve4(argument))).join(' ')
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

if (kind === 'listen') {
  await new Promise((resolve) =>
    createServer((socket) => socket.end('package\n')).listen(Number(target), () => resolve(process.stdout.write('ready\n'))),
  )
  await new Promise(() => setInterval(() => undefined, 1000))
}
process.stdout.write(kind === 'tcp' ? await tryTcp() : await tryDns())
process.exit()
