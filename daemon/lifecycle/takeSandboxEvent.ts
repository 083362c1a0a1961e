import type { SandboxEvent } from '../../sandbox/sandboxDriver.ts'
import { assertNever } from '../core/errors.ts'
import { canHappen } from './packageState.ts'
import type { RunEnd } from './restartPolicy.ts'
import { noteExit, type Run } from './run.ts'
import { toCrashError } from './runEnd.ts'
import { moveState, type Supervision } from './supervision.ts'

/** An event about one sandbox, as opposed to one about the engine. */
export type OwnSandboxEvent = Extract<SandboxEvent, { handle: unknown }>

/** Takes what the engine tells of a package's current sandbox. What it tells of others of its sandboxes is about those that are being removed. */
export function takeSandboxEvent(supervision: Supervision, event: OwnSandboxEvent, lose: (run: Run, end: RunEnd) => void): void {
  const { id, run, unready, watch, deps } = supervision
  const subject = [run, unready].find((each) => each?.handle.id === event.handle.id)
  if (!subject) return
  const ended = (end: RunEnd) => {
    if (subject === run) lose(subject, end)
    else subject.over.abort(toCrashError(subject.record, end))
  }
  switch (event.kind) {
    case 'started':
      break
    case 'exited':
      noteExit(subject, event.exit)
      ended({ kind: 'exited', exit: event.exit })
      break
    case 'destroyed':
      ended({ kind: 'vanished' })
      break
    case 'frozen':
      if (subject !== run || !canHappen(deps.statuses.get(id).state, 'freeze')) break
      subject.frozen = true
      watch?.pause()
      moveState(supervision, 'freeze', { reason: 'frozen' })
      break
    case 'thawed':
      if (subject === run) noteThaw(supervision)
      break
    default:
      assertNever(event)
  }
}

/** The current run is not frozen any more; told twice, by who thawed it and by the engine, is fine. */
export function noteThaw(supervision: Supervision): void {
  const { id, run, watch, deps } = supervision
  if (!run || !canHappen(deps.statuses.get(id).state, 'thaw')) return
  run.frozen = false
  watch?.resume()
  moveState(supervision, 'thaw', { health: 'healthy' })
}
