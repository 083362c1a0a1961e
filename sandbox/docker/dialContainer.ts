import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { DialTarget } from '../sandboxDriver.ts'
import { attachStdio } from '../stdio/attachStdio.ts'
import type { ContainerDetails, EngineApi } from './engineApi.ts'

/** Runs in the box as the package's user: joins its own stdin and stdout to where the package listens. `{port}` or `{path}` is its argument. */
const relay = `
const socket = require('node:net').connect(JSON.parse(process.argv[1]))
socket.on('connect', () => { process.stdin.pipe(socket); socket.pipe(process.stdout) })
socket.on('error', () => process.exit(1))
socket.on('close', () => process.stdout.end())
`

/**
 * A byte stream to where the package listens: straight to the container's address where it has one that this host reaches, else through a relay that
 * runs in the box. Errors: NOT_RUNNING when nothing listens at the address.
 */
export async function dialContainer(api: EngineApi, details: ContainerDetails, target: DialTarget, direct: boolean): Promise<Duplex> {
  const address = direct && 'port' in target ? addressOf(details) : undefined
  if (address !== undefined && 'port' in target) return connectTo(address, target.port)
  const to = 'port' in target ? { host: '127.0.0.1', port: target.port } : { path: target.socket }
  const command = ['node', '-e', relay, JSON.stringify(to)]
  return attachStdio(await api.execInContainer(details.Id, command, details.Config.User))
}

function addressOf(details: ContainerDetails): string | undefined {
  return Object.values(details.NetworkSettings.Networks).find(({ IPAddress }) => IPAddress !== '')?.IPAddress
}

function connectTo(host: string, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    const fail = (cause: Error) => reject(new PkgdError('NOT_RUNNING', `Nothing listens on port ${port} of the sandbox`, { cause }))
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.off('error', fail)
      resolve(socket)
    })
  })
}
