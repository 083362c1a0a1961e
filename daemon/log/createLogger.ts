import pino from 'pino'
import type { Logger, LogLevel } from '../core/ports.ts'

export type LogThreshold = LogLevel | 'silent'

export interface AdjustableLogger extends Logger {
  setThreshold(threshold: LogThreshold): void
}

interface LoggerOptions {
  readonly threshold: LogThreshold
  /** JSON lines; else lines for people. */
  readonly json: boolean
  /** Takes one line, its newline included. */
  readonly write: (line: string) => void
}

/** An error with its whole `cause` chain: logs hide no cause. */
const serializers = { error: pino.stdSerializers.errWithCause }

const marks: Readonly<Record<string, string>> = { 20: 'debug', 30: 'info ', 40: 'WARN ', 50: 'ERROR' }

interface Line {
  readonly level: number
  readonly time: string
  readonly msg: string
  readonly error?: { readonly message?: string; readonly stack?: string }
  readonly [field: string]: unknown
}

/** `12:34:56 WARN  a message key=value`, and an error's stack below it. */
export function toReadableLine(json: string): string {
  const { level, time, msg, error, ...fields } = JSON.parse(json) as Line
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const below = error === undefined ? '' : `\n  ${String(error.stack ?? error.message ?? JSON.stringify(error)).replaceAll('\n', '\n  ')}`
  return `${time.slice(11, 19)} ${marks[level] ?? level} ${msg}${pairs.join('')}${below}\n`
}

export function createLogger({ threshold, json, write }: LoggerOptions): AdjustableLogger {
  const root = pino(
    {
      level: threshold,
      base: null,
      serializers,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      ...(json ? { formatters: { level: (label: string) => ({ level: label }) } } : {}),
    },
    { write: json ? write : (line: string) => write(toReadableLine(line)) },
  )
  const wrap = (at: pino.Logger): Logger => ({
    debug: (message, fields = {}) => at.debug(fields, message),
    info: (message, fields = {}) => at.info(fields, message),
    warn: (message, fields = {}) => at.warn(fields, message),
    error: (message, fields = {}) => at.error(fields, message),
    child: (fields) => wrap(createChild(at, fields)),
  })
  // A child keeps its own level: those made so far are told of a new one.
  const children = new Set<WeakRef<pino.Logger>>()
  const createChild = (at: pino.Logger, fields: Record<string, unknown>) => {
    const child = at.child(fields)
    children.add(new WeakRef(child))
    return child
  }
  return {
    ...wrap(root),
    setThreshold(next) {
      root.level = next
      for (const reference of children) {
        const child = reference.deref()
        if (child) child.level = next
        else children.delete(reference)
      }
    },
  }
}
