import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import type { LogEntry, SandboxDriver, SandboxEvent, SandboxHandle } from '../../../sandbox/sandboxDriver.ts'

/** Reads a driver's events from now on and lets a test wait for one. */
export interface EventWitness extends AsyncDisposable {
  readonly seen: readonly SandboxEvent[]
  /** The first event of that kind about the sandbox, past or to come. */
  about<K extends SandboxEvent['kind']>(handle: SandboxHandle, kind: K): Promise<Extract<SandboxEvent, { kind: K }>>
  /** The first event of that kind, past or to come. */
  any<K extends SandboxEvent['kind']>(kind: K): Promise<Extract<SandboxEvent, { kind: K }>>
}

export function witnessEvents(driver: SandboxDriver): EventWitness {
  const stop = new AbortController()
  const seen: SandboxEvent[] = []
  const waiting = new Set<() => void>()
  const read = async () => {
    for await (const event of driver.events(stop.signal)) {
      seen.push(event)
      for (const look of [...waiting]) look()
    }
  }
  const reading = read()

  const until = <K extends SandboxEvent['kind']>(kind: K, matches: (event: SandboxEvent) => boolean) =>
    new Promise<Extract<SandboxEvent, { kind: K }>>((resolve, reject) => {
      const look = () => {
        const found = seen.find((event): event is Extract<SandboxEvent, { kind: K }> => event.kind === kind && matches(event))
        if (!found) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      reading.catch(reject)
      look()
    })

  return {
    seen,
    about: (handle, kind) => until(kind, (event) => 'handle' in event && event.handle.id === handle.id),
    any: (kind) => until(kind, () => true),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await reading
    },
  }
}

/** The next line that comes out of a channel; what comes after it stays for the next one. */
export async function readLine(channel: Duplex): Promise<string> {
  let text = ''
  while (!text.includes('\n')) {
    const chunk: unknown = channel.read()
    if (chunk === null) await once(channel, 'readable')
    else text += String(chunk)
  }
  const end = text.indexOf('\n')
  const rest = text.slice(end + 1)
  if (rest !== '') channel.unshift(Buffer.from(rest))
  return text.slice(0, end)
}

export async function readAll<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const entry of entries) all.push(entry)
  return all
}

/** The first lines of a log up to one that `isLast`: a line on stderr is in the log a moment after it was written. */
export async function readLogUntil(
  driver: SandboxDriver,
  handle: SandboxHandle,
  isLast: (entry: LogEntry, count: number) => boolean,
): Promise<LogEntry[]> {
  const stop = new AbortController()
  const entries: LogEntry[] = []
  for await (const entry of driver.logs(handle, { follow: true, signal: AbortSignal.any([stop.signal, AbortSignal.timeout(20_000)]) })) {
    entries.push(entry)
    if (isLast(entry, entries.length)) stop.abort()
  }
  return entries
}
