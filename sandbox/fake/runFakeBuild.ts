import { PkgdError } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import type { BuildResult, BuildSpec } from '../sandboxDriver.ts'
import type { FakeEngine } from './fakeEngine.ts'
import { createFakeLog } from './fakeLog.ts'
import { startFakeProcess } from './fakeProcess.ts'

const outputBytes = 64 * 1024

/** Runs a program to its end outside any sandbox that `list` shows; it is killed at the signal. */
export async function runFakeBuild(engine: FakeEngine, spec: BuildSpec, context: OperationContext): Promise<BuildResult> {
  const program = engine.script.programs[spec.command[0] ?? '']
  if (!program) throw new PkgdError('COMMAND_NOT_FOUND', `The command ${spec.command[0]} is not in the image`)
  context.signal.throwIfAborted()
  const log = createFakeLog(engine.clock, outputBytes)
  const running = startFakeProcess({ program, spec, log, clock: engine.clock })
  const abort = () => running.signal('SIGKILL')
  context.signal.addEventListener('abort', abort, { once: true })
  const stdout = running.open()
  stdout.on('data', (chunk: Buffer) => log.append('stdout', chunk.toString().replace(/\n$/, '')))
  try {
    const exit = await running.exit
    context.signal.throwIfAborted()
    return { exit, output: log.text }
  } finally {
    context.signal.removeEventListener('abort', abort)
    stdout.destroy()
  }
}
