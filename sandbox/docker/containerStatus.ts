import { PkgdError } from '../../daemon/core/errors.ts'
import type { SandboxExit } from '../../daemon/core/types.ts'
import { toSandboxExit } from '../confinement/sandboxExit.ts'
import type { SandboxInfo, SandboxStatus } from '../sandboxDriver.ts'
import { type LabelledSandbox, parseLabels } from './containerLabels.ts'
import type { ContainerDetails } from './engineApi.ts'

/** How a container that is not running ended. One that was made and never started ends with 125, as the engine's own client says it. */
export function toExit({ State: state, Created: created }: ContainerDetails, killedByUs: boolean): SandboxExit {
  const started = !state.StartedAt.startsWith('0001')
  return toSandboxExit({
    exitCode: started ? state.ExitCode : 125,
    oomKilled: state.OOMKilled,
    finishedAt: state.FinishedAt.startsWith('0001') ? created : state.FinishedAt,
    killedByUs,
  })
}

function toStatus(details: ContainerDetails, killedByUs: boolean): SandboxStatus {
  const { State: state } = details
  if (state.Paused) return { state: 'frozen', startedAt: state.StartedAt }
  if (state.Running) return { state: 'running', startedAt: state.StartedAt }
  return { state: 'exited', exit: toExit(details, killedByUs) }
}

export function toSandboxInfo(details: ContainerDetails, { identity }: LabelledSandbox, killedByUs: boolean): SandboxInfo {
  const handle = { driver: 'docker', id: details.Id, name: details.Name.replace(/^\//, '') }
  return { handle, identity, status: toStatus(details, killedByUs) }
}

/** The labels of a container that must be this daemon's: what is not ours is as if it were not there. */
export function checkOurs(details: ContainerDetails, daemonId: string): LabelledSandbox {
  const labels = parseLabels(details.Config.Labels ?? {})
  if (labels?.identity.daemon === daemonId) return labels
  throw new PkgdError('SANDBOX_NOT_FOUND', `The container ${details.Name.replace(/^\//, '')} is no sandbox of this daemon's`)
}
