import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../daemon/core/errors.ts'
import type { SandboxHandle, SandboxInfo } from '../sandboxDriver.ts'
import { isPassing } from './containerLabels.ts'
import { checkOurs, toSandboxInfo } from './containerStatus.ts'
import type { DockerContext } from './dockerContext.ts'
import type { ContainerDetails, ContainerSummary } from './engineApi.ts'
import { isGone } from './stopContainer.ts'

/** Who is there, told by the engine's labels alone. */
export interface SandboxCensus {
  list(): Promise<SandboxInfo[]>
  recover(handle: SandboxHandle): Promise<SandboxInfo | undefined>
}

export function createSandboxCensus({ deps, api, networks, delivery, traits, label, busy, killed }: DockerContext): SandboxCensus {
  let swept: Promise<void> | undefined

  async function recover({ id }: SandboxHandle): Promise<SandboxInfo | undefined> {
    try {
      return await describe(await api.inspectContainer(id))
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
  }

  /** A network that a former daemon made is held again: its rules outlived that daemon, its resolver did not. */
  async function describe(details: ContainerDetails): Promise<SandboxInfo> {
    const labels = checkOurs(details, deps.daemonId)
    const info = toSandboxInfo(details, labels, killed.has(details.Id))
    if (labels.network === 'internet' && details.State.Running) await networks.adopt(info.handle.name, details)
    return info
  }

  /** Once in a life: what a dead daemon left of builds, and networks and run directories whose container is gone. */
  async function sweep(containers: readonly NamedContainer[]): Promise<void> {
    const left = containers.filter(({ name, passing }) => passing && !busy.has(name))
    await Promise.all(left.map(({ id }) => api.removeContainer(id)))
    // What is being started right now has its network before it has its container.
    const live = new Set([...containers.filter((each) => !left.includes(each)).map(({ name }) => name), ...busy])
    await networks.sweep(live)
    if (!(await traits()).sharesDisk) await delivery.sweep(live)
    const run = deps.home.run
    const names = await readdir(run).catch((error: unknown) => {
      // Nothing was ever started in this home.
      if (hasCode(error, 'ENOENT')) return []
      throw error
    })
    const ours = names.filter((name) => name.startsWith(`pkgd-${deps.daemonId}-`) && !live.has(name))
    await Promise.all(ours.map((name) => rm(join(run, name), { recursive: true, force: true })))
  }

  return {
    recover,
    async list() {
      const summaries = await api.listContainers([label])
      const containers = summaries.map(toNamed)
      swept ??= sweep(containers)
      await swept
      const listed = containers.filter(({ name, passing }) => !passing && !busy.has(name))
      const found = await Promise.all(listed.map(({ id, name }) => recover({ driver: 'docker', id, name })))
      return found.filter((info) => info !== undefined)
    },
  }
}

interface NamedContainer {
  readonly id: string
  readonly name: string
  /** A build or a probe. */
  readonly passing: boolean
}

const toNamed = ({ Id: id, Names: names, Labels: labels }: ContainerSummary): NamedContainer => ({
  id,
  name: (names[0] ?? id).replace(/^\//, ''),
  passing: isPassing(labels),
})
