import { spawn } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { LaunchSpec } from '../sandboxDriver.ts'
import { createLiveness } from './liveness.ts'
import type { PreparedBox } from './prepareBox.ts'
import { runFile, writeRecord } from './sandboxRecord.ts'
import type { SupervisorOrders, SupervisorReply } from './supervisor.ts'

/** A supervisor waits: it needs no threads to compile with and next to no memory. */
const supervisorFlags = ['--max-old-space-size=32', '--v8-pool-size=0']
const supervisor = join(import.meta.dirname, `supervisor${extname(import.meta.filename)}`)

/** Resolves once the package's user is taken on and its command is about to be executed. */
export async function startSupervisor(
  { orders, cgroup }: PreparedBox,
  { logBytes, identity }: LaunchSpec,
  compileCache: string,
): Promise<void> {
  const { directory } = orders
  await createLiveness(directory)
  const whole: SupervisorOrders = { ...orders, logBytes, roll: cgroup.roll, oomCounter: cgroup.oomCounter }
  await writeRecord(directory, runFile.orders, whole)
  const complaints = await open(join(directory, 'supervisor.err'), 'a', 0o600)
  // In mounts of its own, to which the host's unmounting spreads, it can bind what it holds open; it stays the same process.
  const inMounts = orders.pins.length > 0 ? ['unshare', '--mount', '--propagation', 'slave', '--'] : []
  const [program = '', ...args] = [...inMounts, process.execPath, ...supervisorFlags, supervisor, directory]
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', complaints.fd],
    detached: true,
    cwd: '/',
    // Compiled code is kept: a supervisor then starts in half the time and takes half the memory.
    env: { PATH: process.env.PATH ?? '', UV_THREADPOOL_SIZE: '1', NODE_COMPILE_CACHE: compileCache },
  })
  child.unref()
  try {
    const reply = child.stdout ? await readReply(child.stdout, child) : undefined
    if (reply?.ready) return
    if (reply?.error === 'MOUNT_REFUSED') throw new PkgdError(reply.error, reply.failure)
    const said = reply?.failure || (await readFile(join(directory, 'supervisor.err'), 'utf8')).slice(-2000)
    throw new PkgdError('START_FAILED', `The sandbox of ${identity.packageId} could not be started: ${said.trim() || 'bwrap said nothing'}`)
  } finally {
    child.stdout?.destroy()
    await complaints.close()
  }
}

async function readReply(stdout: NodeJS.ReadableStream, child: NodeJS.EventEmitter): Promise<SupervisorReply | undefined> {
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  const read = async () => {
    let text = ''
    for await (const chunk of stdout) {
      text += String(chunk)
      if (text.includes('\n')) return JSON.parse(text) as SupervisorReply
    }
    return undefined
  }
  return Promise.race([read(), failed])
}
