import { createInterface } from 'node:readline'
import { PkgdError } from '../../../../daemon/core/errors.ts'
import type { HostSession, PackageHost } from '../../../../daemon/lifecycle/packageHost.ts'

/** A protocol of lines that are answered with themselves: just enough to have a handshake, a session to take over, calls and probes. */
export interface LineSession extends HostSession {
  call(line: string): Promise<string>
  readonly token: string
  readonly pending: number
}

export interface LineHost extends PackageHost {
  readonly sessions: Map<string, LineSession>
  /** Ids whose conversations were opened, `adopted` or `new`. */
  readonly opened: string[]
}

let tokens = 0

export function createLineHost(): LineHost {
  const sessions = new Map<string, LineSession>()
  const opened: string[] = []
  return {
    sessions,
    opened,
    async connect(context, signal) {
      const channel = await context.stdio()
      const waiting: { line: string; resolve: (line: string) => void; reject: (error: Error) => void }[] = []
      const closed = Promise.withResolvers<Error>()
      let over: Error | null = null
      const end = (reason: Error) => {
        over ??= reason
        for (const each of waiting.splice(0)) each.reject(reason)
      }
      createInterface({ input: channel }).on('line', (line) => {
        if (waiting[0]?.line === line) waiting.shift()?.resolve(line)
      })
      channel.on('error', () => undefined)
      channel.once('close', () => {
        if (over) return
        const reason = new PkgdError('PACKAGE_CRASHED', 'the channel ended')
        end(reason)
        closed.resolve(reason)
      })
      const call = (line: string, until?: AbortSignal) =>
        new Promise<string>((resolve, reject) => {
          if (over) return reject(over)
          const abort = () => reject(until?.reason)
          until?.addEventListener('abort', abort, { once: true })
          waiting.push({ line, resolve, reject })
          channel.write(`${line}\n`)
        })
      const adopted = context.session as { readonly token: string } | undefined
      const token = adopted?.token ?? `token-${++tokens}`
      opened.push(`${context.record.id} ${adopted ? 'adopted' : 'new'}`)
      try {
        await call(adopted ? `ping ${token}` : `hello ${token}`, signal)
      } catch (error) {
        over = error as Error
        channel.destroy()
        throw error
      }
      if (!adopted) context.saveSession({ token })
      const session: LineSession = {
        token,
        call: (line) => call(line),
        get pending() {
          return waiting.length
        },
        closed: closed.promise,
        probe: async (until) => void (await call('probe', until)),
        async close(reason) {
          end(reason)
          channel.destroy()
        },
      }
      sessions.set(context.record.id, session)
      return session
    },
    forget: (id) => sessions.delete(id),
  }
}
