import type { Readable } from 'node:stream'
import { findCoded } from '../../daemon/core/errors.ts'
import type { Clock, Logger } from '../../daemon/core/ports.ts'
import { toSandboxExit } from '../confinement/sandboxExit.ts'
import type { SandboxEvent, SandboxHandle } from '../sandboxDriver.ts'
import type { EngineApi, EngineEvent } from './engineApi.ts'

export interface EventsDeps {
  readonly api: EngineApi
  /** Which containers: `key=value`, all of which must hold. */
  readonly labels: readonly string[]
  readonly clock: Clock
  readonly log: Logger
  /** Whether this driver itself sent the container SIGKILL. */
  readonly wasKilled: (id: string) => boolean
  /** The engine is back: what it may have forgotten is put right before anybody hears of it. */
  readonly onFound: () => Promise<void>
}

const firstDelay = 100
const longestDelay = 2_000

/**
 * The engine's event stream as the port's. It begins at the moment of the call, whenever it is first read and however long connecting takes: the
 * engine is asked for what happened since. An engine that goes away is `lost`, tried again with growing delays, then `found`.
 */
export function followEngine(deps: EventsDeps, signal: AbortSignal): AsyncIterable<SandboxEvent> {
  const { api, labels, clock, log } = deps
  const begin = clock.now()
  return {
    async *[Symbol.asyncIterator]() {
      let last = begin * 1e6
      const isNew = createRepetitionFilter()
      let lost = false
      let delay = firstDelay
      while (!signal.aborted) {
        try {
          const stream = await api.events(labels, last / 1e9, signal)
          if (lost) {
            await deps.onFound()
            yield { kind: 'found' }
          }
          lost = false
          delay = firstDelay
          for await (const event of readEngineEvents(stream)) {
            if (!isNew(event)) continue
            const told = await toSandboxEvent(event, deps)
            if (told) yield told
            last = event.timeNano
          }
          if (signal.aborted) return
          lost = true
          yield { kind: 'lost', reason: 'the event stream of the container engine ended' }
        } catch (error) {
          if (signal.aborted) return
          const reason = findCoded(error)?.message ?? String(error)
          if (!lost) {
            lost = true
            yield { kind: 'lost', reason }
          }
          log.debug('The container engine is still out of reach', { reason })
        }
        // What happens from here on is asked for again, so nothing is missed by an engine that remembers.
        await pause(clock, delay, signal)
        delay = Math.min(longestDelay, delay * 2)
      }
    },
  }
}

/** What the engine remembers from before a subscription overlaps with what it tells after it, so that an event may come twice, in any order. */
export function createRepetitionFilter(): (event: EngineEvent) => boolean {
  const told = new Set<string>()
  return ({ id, action, timeNano }) => {
    const key = `${id} ${action} ${timeNano}`
    if (told.has(key)) return false
    told.add(key)
    // Engines remember a few hundred events.
    for (const oldest of told) {
      if (told.size <= remembered) break
      told.delete(oldest)
    }
    return true
  }
}

const remembered = 4_096

/** One JSON document a line; a document may be split over chunks. */
async function* readEngineEvents(stream: Readable): AsyncGenerator<EngineEvent> {
  let held = ''
  for await (const chunk of stream) {
    held += String(chunk)
    for (let end = held.indexOf('\n'); end >= 0; end = held.indexOf('\n')) {
      const line = held.slice(0, end).trim()
      held = held.slice(end + 1)
      if (line !== '') yield parseEngineEvent(line)
    }
  }
}

interface WireEvent {
  readonly Type?: string
  readonly Action?: string
  readonly status?: string
  readonly id?: string
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Record<string, string> }
  readonly time?: number
  readonly timeNano?: number
}

export function parseEngineEvent(line: string): EngineEvent {
  const event = JSON.parse(line) as WireEvent
  return {
    type: event.Type ?? 'container',
    action: event.Action ?? event.status ?? '',
    id: event.Actor?.ID ?? event.id ?? '',
    attributes: event.Actor?.Attributes ?? {},
    timeNano: event.timeNano ?? (event.time ?? 0) * 1e9,
  }
}

async function toSandboxEvent(event: EngineEvent, deps: EventsDeps): Promise<SandboxEvent | undefined> {
  const handle: SandboxHandle = { driver: 'docker', id: event.id, name: event.attributes.name ?? event.id }
  switch (event.action) {
    case 'start':
      return { kind: 'started', handle }
    case 'die':
      return { kind: 'exited', handle, exit: await readExit(event, deps) }
    case 'pause':
      return { kind: 'frozen', handle }
    case 'unpause':
      return { kind: 'thawed', handle }
    case 'destroy':
      return { kind: 'destroyed', handle }
    default:
      return undefined
  }
}

const afterOom = 50

/** The event has the exit code; whether memory was the reason is in the container's state, which the engine may write a moment later. */
async function readExit(event: EngineEvent, { api, clock, wasKilled }: EventsDeps) {
  const exitCode = Number(event.attributes.exitCode ?? 0)
  const finishedAt = new Date(event.timeNano / 1e6).toISOString()
  const killedByUs = wasKilled(event.id)
  const isOomKilled = async () => {
    try {
      return (await api.inspectContainer(event.id)).State.OOMKilled
    } catch (error) {
      // Removed meanwhile: what is known is the code.
      if (findCoded(error)?.code === 'SANDBOX_NOT_FOUND') return false
      throw error
    }
  }
  let oomKilled = exitCode === 137 && !killedByUs && (await isOomKilled())
  if (exitCode === 137 && !killedByUs && !oomKilled) {
    await pause(clock, afterOom)
    oomKilled = await isOomKilled()
  }
  return toSandboxExit({ exitCode, oomKilled, finishedAt, killedByUs })
}

function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, done)
    signal?.addEventListener('abort', done, { once: true })
    function done() {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
  })
}
