import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import type Docker from 'dockerode'

/** A running bare server, and what its create, start, handshake and list took: milliseconds from the first engine call. */
export interface BareServer extends AsyncDisposable {
  readonly created: number
  readonly started: number
  readonly initialized: number
  readonly listed: number
  /** Removes the container. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * The least that any host must do: create a container like `model` (image, user, limits, mounts), attach, start, `initialize`, `tools/list`. No pkgd code is on the path.
 * The command is the package's own, without the starter. The container runs on until it is disposed of.
 */
export async function runBare(docker: Docker, model: Docker.ContainerInspectInfo, command: readonly string[]): Promise<BareServer> {
  const begin = performance.now()
  const since = () => performance.now() - begin
  const container = await docker.createContainer({
    Image: model.Image,
    Cmd: [...command],
    User: model.Config.User,
    WorkingDir: model.Config.WorkingDir,
    Env: ['HOME=/tmp'],
    OpenStdin: true,
    StdinOnce: false,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: false,
    Entrypoint: [],
    NetworkDisabled: true,
    HostConfig: withoutBox(model.HostConfig, model.Name.replace('/', '')),
  })
  const remove = () => container.remove({ force: true })
  try {
    const created = since()
    const stream = await container.attach({ stream: true, stdin: true, stdout: true, hijack: true })
    const stdout = new PassThrough()
    container.modem.demuxStream(stream, stdout, new PassThrough())
    await container.start()
    const started = since()
    const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
    const request = async (id: number, method: string, params: object) => {
      stream.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error('The bare server ended')
        if ((JSON.parse(value) as { id?: number }).id === id) return
      }
    }
    await request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bare', version: '1' } })
    const initialized = since()
    stream.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
    await request(2, 'tools/list', {})
    return { created, started, initialized, listed: since(), [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** What pkgd makes for each sandbox below its home's run directory (the box with the pipes, the account files) is its own and gone by now. */
const withoutBox = (config: Docker.HostConfig, name: string): Docker.HostConfig => ({
  ...config,
  Mounts: (config.Mounts ?? []).filter(({ Source }) => !Source?.includes(`/run/${name}/`)),
  Binds: (config.Binds ?? []).filter((bind) => !bind.includes(`/run/${name}/`)),
})
