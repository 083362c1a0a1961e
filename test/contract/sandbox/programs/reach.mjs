// Tries each `<host>:<port>` that is a line on stdin (or an argument, and then ends), answers each with a line: `open <what was said>` or an error's code.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

const attempt = (target) =>
  new Promise((resolve) => {
    const [host, port] = target.split(':')
    const socket = connect({ host, port: Number(port), timeout: 4000 })
    socket.on('data', (data) => resolve(`open ${data.toString().trim()}`))
    socket.on('error', (error) => resolve(error.code ?? error.message))
    socket.on('timeout', () => resolve('TIMEOUT'))
    socket.on('end', () => resolve('open'))
  })

const targets = process.argv.slice(2)
for (const target of targets) console.log(await attempt(target))
if (targets.length > 0) process.exit(0)
for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${await attempt(line)}\n`)
