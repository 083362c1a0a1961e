import type { Duplex } from 'node:stream'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { SandboxHandle, StdioChannel } from '../sandboxDriver.ts'
import { attachStdio } from '../stdio/attachStdio.ts'
import { openNamedPipes } from '../stdio/namedPipes.ts'
import { checkOurs } from './containerStatus.ts'
import type { DockerContext } from './dockerContext.ts'
import { boxDirectoryOf } from './launchContainer.ts'

/** The open stdio channels, at most one a sandbox. */
export interface SandboxChannels {
  open(handle: SandboxHandle): Promise<StdioChannel>
  /** Keeps a connection that was made before the sandbox started, for the first who opens its channel. */
  keep(handle: SandboxHandle, attached: Duplex): void
  close(handle: SandboxHandle): void
  closeAll(): void
}

export function createSandboxChannels({ deps, api, inspectRunning }: DockerContext): SandboxChannels {
  const opened = new Map<string, StdioChannel | 'opening'>()
  const kept = new Map<string, Duplex>()

  async function connect(handle: SandboxHandle): Promise<StdioChannel> {
    const { stdio } = checkOurs(await inspectRunning(handle), deps.daemonId)
    if (stdio === 'pipes') return openNamedPipes(boxDirectoryOf(deps.home.run, handle.name))
    const early = kept.get(handle.id)
    kept.delete(handle.id)
    return attachStdio(early && !early.destroyed ? early : await api.attachContainer(handle.id))
  }

  function close({ id }: SandboxHandle): void {
    const channel = opened.get(id)
    if (channel !== 'opening') channel?.destroy()
    kept.get(id)?.destroy()
    opened.delete(id)
    kept.delete(id)
  }

  return {
    async open(handle) {
      const former = opened.get(handle.id)
      if (former === 'opening' || former?.destroyed === false) {
        throw new PkgdError('CONFLICT', `The sandbox ${handle.name} has an open channel already`)
      }
      opened.set(handle.id, 'opening')
      try {
        const channel = await connect(handle)
        opened.set(handle.id, channel)
        return channel
      } catch (error) {
        opened.delete(handle.id)
        throw error
      }
    },
    keep: ({ id }, attached) => {
      kept.set(id, attached)
    },
    close,
    closeAll() {
      for (const id of [...opened.keys(), ...kept.keys()]) close({ driver: 'docker', id, name: id })
    },
  }
}
