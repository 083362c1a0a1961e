import { access, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { SandboxExit } from '../../daemon/core/types.ts'
import { toSandboxExit } from '../confinement/sandboxExit.ts'
import type { SandboxHandle, SandboxInfo } from '../sandboxDriver.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { endSandbox } from './endSandbox.ts'
import { watchLiveness } from './liveness.ts'
import { removePackageNetwork, toLinkName } from './packageNetwork.ts'
import { isAlive } from './processIdentity.ts'
import { type LiveRecord, readRecord, runFile, type SandboxRecord, type StatusRecord, writeRecord } from './sandboxRecord.ts'

/** A sandbox as its run directory tells it. */
export interface KnownSandbox {
  readonly name: string
  readonly record: SandboxRecord
  /** Null when its supervisor is gone. */
  readonly live: LiveRecord | null
  readonly exit: SandboxExit | null
}

export interface SandboxCensus {
  list(): Promise<SandboxInfo[]>
  recover(handle: SandboxHandle): Promise<SandboxInfo | undefined>
  /** Errors: SANDBOX_NOT_FOUND, also for one that is not this daemon's. */
  find(handle: SandboxHandle): Promise<KnownSandbox>
  /** The same for one that has ended. */
  findRunning(handle: SandboxHandle): Promise<KnownSandbox & { live: LiveRecord }>
  /** That a sandbox was started in this life: its end is told, however soon it comes. */
  started(name: string): void
  /** Resolves when the sandbox has ended, with how; the driver's `exited` event is sent by then. */
  ended(name: string): Promise<SandboxExit>
  /** Removes everything of a sandbox in which nothing runs. */
  clear(name: string): Promise<void>
  close(): void
}

export function createSandboxCensus(context: BubblewrapContext): SandboxCensus {
  const { deps, cgroups, events, busy, directoryOf, toHandle } = context
  const endings = new Map<string, { exit: Promise<SandboxExit>; close(): void }>()
  const guarded = new Set<string>()
  const startedHere = new Set<string>()
  let swept: Promise<void> | undefined

  async function read(name: string): Promise<KnownSandbox | undefined> {
    const directory = directoryOf(name)
    const record = context.isOurName(name) ? await readRecord<SandboxRecord>(directory, runFile.record) : undefined
    if (!record || record.identity.daemon !== deps.daemonId || record.builder !== null) return undefined
    const live = await readRecord<LiveRecord>(directory, runFile.live)
    // A supervisor that has told the end is over, though it may be in the process table for a moment more.
    const isOver = (await readRecord<StatusRecord>(directory, runFile.status)) !== undefined
    if (live && !isOver && (await isAlive(live.supervisor))) return { name, record, live, exit: null }
    return { name, record, live: null, exit: await readExit(name) }
  }

  /** The supervisor is gone: it has said how the sandbox ended, or was killed, and the sandbox with it. */
  async function readExit(name: string): Promise<SandboxExit> {
    const directory = directoryOf(name)
    let status = await readRecord<StatusRecord>(directory, runFile.status)
    if (!status) {
      await untilGone(await readRecord<LiveRecord>(directory, runFile.live))
      status = await readRecord<StatusRecord>(directory, runFile.status)
    }
    if (!status) {
      await endSandbox(name, context)
      status = { code: 137, oomKills: 0, at: new Date(deps.clock.now()).toISOString() }
      await writeRecord(directory, runFile.status, status)
    }
    const killedByUs = await exists(join(directory, runFile.killed))
    return toSandboxExit({ exitCode: status.code, oomKilled: status.oomKills > 0, finishedAt: status.at, killedByUs })
  }

  function ended(name: string): Promise<SandboxExit> {
    const former = endings.get(name)
    if (former) return former.exit
    const directory = directoryOf(name)
    const isHeld = async () => {
      const live = await readRecord<LiveRecord>(directory, runFile.live)
      return live !== undefined && (await isAlive(live.supervisor))
    }
    const watch = watchLiveness(directory, isHeld)
    const exit = watch.then(async (liveness) => {
      // Of one that was over before this life nobody waits to hear.
      const isNews = startedHere.has(name) || (await isHeld())
      await liveness.ended
      liveness.close()
      const result = await readExit(name)
      startedHere.delete(name)
      if (isNews) events.emit({ kind: 'exited', handle: toHandle(name), exit: result })
      return result
    })
    // Who waits for it is told of a failure; when nobody does, the log is.
    exit.catch((error: unknown) => deps.log.warn('The end of a sandbox could not be read', { sandbox: name, error: String(error) }))
    endings.set(name, { exit, close: () => void watch.then((liveness) => liveness.close()) })
    return exit
  }

  async function toInfo(known: KnownSandbox): Promise<SandboxInfo> {
    const handle = toHandle(known.name)
    const { identity, link } = known.record
    if (known.exit !== null || known.live === null) {
      return { handle, identity, status: { state: 'exited', exit: known.exit ?? (await readExit(known.name)) } }
    }
    void ended(known.name)
    if (link) await holdNetwork(known.name, link)
    const frozen = await (await cgroups.open(known.name)).isFrozen()
    return { handle, identity, status: { state: frozen ? 'frozen' : 'running', startedAt: known.live.startedAt } }
  }

  /** The rules of a sandbox that a former daemon started outlived that daemon, its resolver did not. Once in a life; a package without names still runs. */
  async function holdNetwork(name: string, link: NonNullable<SandboxRecord['link']>): Promise<void> {
    if (guarded.has(name)) return
    guarded.add(name)
    try {
      await deps.egress.guard({ ...link, policy: { mode: 'internet' }, router: 'pkgd' })
    } catch (error) {
      guarded.delete(name)
      deps.log.warn('The network of a running sandbox could not be held again', { sandbox: name, error: String(error) })
    }
  }

  async function clear(name: string): Promise<void> {
    endings.get(name)?.close()
    endings.delete(name)
    guarded.delete(name)
    startedHere.delete(name)
    await endSandbox(name, context)
    const record = await readRecord<SandboxRecord>(directoryOf(name), runFile.record)
    // A start that was cut off may have made the network and not yet said so.
    if (record && (record.network !== 'none' || record.builder)) await removePackageNetwork(toLinkName(name), deps.egress)
    await (await cgroups.open(name)).remove()
    await rm(directoryOf(name), { recursive: true, force: true })
  }

  /** Once in a life: builds whose daemon died, starts that never came to a supervisor, cgroups whose run directory is gone. */
  async function sweep(names: readonly string[]): Promise<void> {
    for (const name of names.filter((candidate) => !busy.has(candidate))) {
      const directory = directoryOf(name)
      const record = await readRecord<SandboxRecord>(directory, runFile.record)
      if (record && record.identity.daemon !== deps.daemonId) continue
      const isStarted = (await readRecord<LiveRecord>(directory, runFile.live)) !== undefined
      if (record?.builder === null && isStarted) continue
      if (record?.builder && (await isAlive(record.builder))) continue
      await clear(name)
    }
    for (const name of await cgroups.list()) if (!names.includes(name) && !busy.has(name)) await clear(name)
  }

  async function listNames(): Promise<string[]> {
    try {
      return (await readdir(deps.home.run)).filter(context.isOurName)
    } catch (error) {
      // Nothing was ever started in this home.
      if (hasCode(error, 'ENOENT')) return []
      throw error
    }
  }

  async function find({ name }: SandboxHandle): Promise<KnownSandbox> {
    const known = await read(name)
    if (!known) throw new PkgdError('SANDBOX_NOT_FOUND', `The sandbox ${name} does not exist`)
    return known
  }

  return {
    find,
    started(name) {
      startedHere.add(name)
      void ended(name)
    },
    ended,
    clear,
    async findRunning(handle) {
      const known = await find(handle)
      if (known.live === null) throw new PkgdError('SANDBOX_NOT_FOUND', `The sandbox ${handle.name} has ended`)
      return { ...known, live: known.live }
    },
    async recover({ name }) {
      const known = await read(name)
      return known && toInfo(known)
    },
    async list() {
      const names = await listNames()
      swept ??= sweep(names).catch((error: unknown) => {
        swept = undefined
        throw error
      })
      await swept
      const known = await Promise.all(names.filter((name) => !busy.has(name)).map(read))
      return Promise.all(known.filter((one) => one !== undefined).map(toInfo))
    },
    close() {
      for (const { close } of endings.values()) close()
    },
  }
}

/** A process lets go of its files a moment before it is gone from the process table. */
async function untilGone(live: LiveRecord | undefined): Promise<void> {
  for (let attempt = 0; live && (await isAlive(live.supervisor)); attempt++) {
    if (attempt === 400) throw new PkgdError('INTERNAL', `The supervisor ${live.supervisor.pid} let go of its sandbox and does not end`)
    await delay(5)
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
