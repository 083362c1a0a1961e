import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PkgdError } from '../../../core/errors.ts'
import type { NpmWorkerReply, NpmWorkerRequest } from './workerProtocol.ts'

/** Beside this file, in the form in which this file runs: TypeScript from the sources, JavaScript from a build. */
const worker = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url))

export type NpmOutcome = Exclude<NpmWorkerReply, { kind: 'stage' }>

/** Runs one install in a process of its own; it is killed at the signal. Rejects with the signal's reason, or when the process died without an answer. */
export function runNpmWorker(
  request: NpmWorkerRequest,
  context: { readonly signal: AbortSignal; readonly onStage: (stage: Extract<NpmWorkerReply, { kind: 'stage' }>) => void },
): Promise<NpmOutcome> {
  context.signal.throwIfAborted()
  const child = fork(worker, [], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'json' })
  let outcome: NpmOutcome | undefined
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4096)
  })
  const kill = () => child.kill('SIGKILL')
  context.signal.addEventListener('abort', kill, { once: true })
  return new Promise<NpmOutcome>((resolve, reject) => {
    child.on('message', (message) => {
      const reply = message as NpmWorkerReply
      if (reply.kind === 'stage') context.onStage(reply)
      else outcome = reply
    })
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (context.signal.aborted) return reject(context.signal.reason)
      if (outcome) return resolve(outcome)
      const how = signal ? `was killed by ${signal}` : `ended with exit code ${code}`
      reject(new PkgdError('DEPENDENCY_INSTALL_FAILED', `The npm worker ${how} before it was done: ${said.trim() || 'it said nothing'}`))
    })
    child.send(request)
  }).finally(() => context.signal.removeEventListener('abort', kill))
}
