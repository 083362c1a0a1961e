import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { findCoded, PkgdError } from '../../daemon/core/errors.ts'
import { dialPort, dialSocket } from '../dial/dialSandbox.ts'
import type { DialTarget } from '../sandboxDriver.ts'
import { attachStdio } from '../stdio/attachStdio.ts'
import type { ContainerDetails, EngineApi } from './engineApi.ts'

/** Runs in the box as the package's user: joins its own stdin and stdout to where the package listens. Its argument is what `net.connect` takes. */
const relay = `
const socket = require('node:net').connect(JSON.parse(process.argv[1]))
socket.on('connect', () => { process.stdin.pipe(socket); socket.pipe(process.stdout) })
socket.on('error', () => process.exit(1))
socket.on('close', () => process.stdout.end())
`

/**
 * A byte stream to where the package listens: straight to the container's address where it has one, or through its namespaces, where this host's kernel
 * is the container's and the daemon may enter them; else through a relay that runs in the box. `pid` is its init on this host, if it is here. Errors: NOT_RUNNING when nothing listens there.
 */
export async function dialContainer(api: EngineApi, details: ContainerDetails, target: DialTarget, pid: number | null): Promise<Duplex> {
  const entered = process.getuid?.() === 0 ? pid : null
  if ('socket' in target) return entered === null ? relayTo(api, details, { path: target.socket }) : dialSocket(entered, target.socket)
  const address = pid === null ? undefined : addressOf(details)
  if (address !== undefined) {
    try {
      return await connectTo(address, target.port)
    } catch (error) {
      // It may listen on its own loopback only.
      if (findCoded(error)?.code !== 'NOT_RUNNING') throw error
    }
  }
  return entered === null ? relayTo(api, details, { host: '127.0.0.1', port: target.port }) : dialPort(entered, target.port)
}

async function relayTo(api: EngineApi, details: ContainerDetails, to: object): Promise<Duplex> {
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
