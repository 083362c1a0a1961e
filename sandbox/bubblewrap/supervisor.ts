import { writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ErrorCode, toPkgdError } from '../../daemon/core/errors.ts'
import { closeInheritedDescriptors } from '../../daemon/core/inheritedDescriptors.ts'
import { type BoxOrders, startBox } from './boxProcess.ts'
import { readCounter } from './cgroupCounter.ts'
import { emptyCgroup } from './cgroupMembers.ts'
import { holdLiveness } from './liveness.ts'
import { createLogWriter } from './logWriter.ts'
import { findMainProcess } from './mainProcess.ts'
import { readProcess } from './processIdentity.ts'
import { type LiveRecord, runFile, type StatusRecord, writeRecord } from './sandboxRecord.ts'

/** What a supervisor is told: `orders.json` in its run directory. */
export interface SupervisorOrders extends BoxOrders {
  readonly logBytes: number
  /** The file that lists what is in the sandbox; null where there are no cgroups. */
  readonly roll: string | null
  /** The file that counts how often the kernel killed for the memory limit, and its key. */
  readonly oomCounter: { readonly file: string; readonly key: string } | null
}

/** What it says to the one who started it, once, as a line of JSON. */
export type SupervisorReply = { readonly ready: true } | { readonly ready: false; readonly failure: string; readonly error?: ErrorCode }

/**
 * A process of its own, one a sandbox: starts bwrap, keeps the package's stderr, and writes down how it ended. It outlives the daemon; the sandbox ends with it.
 */
async function supervise(directory: string): Promise<void> {
  const orders = JSON.parse(await readFile(join(directory, runFile.orders), 'utf8')) as SupervisorOrders
  const supervisor = await readProcess(process.pid)
  if (!supervisor) throw new Error('/proc does not show this process')
  await holdLiveness(directory)
  const record = (box: LiveRecord['box']) => {
    const live: LiveRecord = { supervisor, box, startedAt: new Date().toISOString() }
    return writeRecord(directory, runFile.live, live)
  }
  await record(null)
  const log = createLogWriter(directory, orders.logBytes)
  const box = await startBox(orders).catch((error: unknown) => {
    const { code, message } = toPkgdError(error)
    reply({ ready: false, failure: message, error: code })
    throw error
  })
  let started = false
  let said = ''
  for (const stream of [box.stdout, box.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      log.write(chunk)
      if (!started && said.length < 4096) said += chunk.toString()
    })
  }

  const init = await box.ready
  const [first, main] = init === undefined ? [] : await Promise.all([readProcess(init), findMainProcess(init)])
  if (init !== undefined) {
    started = true
    // A package that is over already has no process to record; its end is.
    if (first && main) await record({ init: first, main })
    reply({ ready: true })
  }

  const code = await box.closed
  if (orders.roll !== null) await emptyCgroup(orders.roll)
  log.end()
  const oomKills = orders.oomCounter ? await readCounter(orders.oomCounter) : 0
  const status: StatusRecord = { code, oomKills, at: new Date().toISOString(), ...(!started && { failure: said.trim() }) }
  await writeRecord(directory, runFile.status, status)
  if (!started) reply({ ready: false, failure: said.trim() })
}

function reply(message: SupervisorReply): void {
  try {
    writeSync(1, `${JSON.stringify(message)}\n`)
  } catch (error) {
    // The daemon that started this died meanwhile; the next one finds the records.
    process.emitWarning(`nobody hears: ${String(error)}`)
  }
}

// What the daemon was started with is none of the package's business.
closeInheritedDescriptors()
// A terminal's or a session's end is not the sandbox's.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGPIPE'] as const) process.on(signal, () => undefined)
const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error('usage: supervisor <run directory>')
await supervise(directory)
process.exit()
