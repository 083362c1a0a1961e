import type { PkgdError } from '../daemon/core/errors.ts'
import type { Client } from './client.ts'

/** One option of a command, as `node:util` parseArgs takes it, with what `--help` and completion say of it. */
export interface OptionSpec {
  readonly type: 'boolean' | 'string'
  readonly short?: string
  readonly multiple?: boolean
  /** How the value is shown in help, e.g. `src:dst[:ro]`. */
  readonly value?: string
  readonly description: string
}

export type OptionValues<O extends Readonly<Record<string, OptionSpec>>> = {
  readonly [K in keyof O]?: O[K] extends { multiple: true }
    ? O[K]['type'] extends 'boolean'
      ? boolean[]
      : string[]
    : O[K]['type'] extends 'boolean'
      ? boolean
      : string
}

/** What a command is given. */
export interface Invocation<O extends Readonly<Record<string, OptionSpec>>> {
  readonly args: readonly string[]
  /** What stood after `--`. */
  readonly rest: readonly string[]
  readonly options: OptionValues<O>
  readonly cwd: string
  readonly terminal: Terminal
  /** The daemon; started in the background at the first request unless `--no-autostart` was given. */
  readonly client: Client
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

/** The user's side of the command. */
export interface Terminal {
  /** Whether someone can be asked. */
  readonly interactive: boolean
  readonly json: boolean
  /** A yes-or-no question; false off a terminal. */
  confirm(question: string): Promise<boolean>
  /** A value that is not echoed; from stdin off a terminal. */
  readSecret(label: string): Promise<string>
  /** One line of state that replaces the former one; nothing off a terminal. */
  progress(line: string | null): void
  /** A remark on stderr. */
  note(line: string): void
}

/** What a command answers: one JSON document and its human form. */
export interface Answer {
  readonly json: unknown
  readonly text: string
  /** Exit code; 0 when absent. */
  readonly exit?: number
  /** What failed, for stderr; the answer is printed all the same. The exit code is the first one's. */
  readonly errors?: readonly PkgdError[]
}

/** What a command that follows something answers: one line each. */
export type Lines = AsyncIterable<Answer>

export interface Command<O extends Readonly<Record<string, OptionSpec>> = Readonly<Record<string, OptionSpec>>> {
  readonly name: string
  readonly summary: string
  /** Synopses without the leading `pkg`, one a form. */
  readonly usage: readonly string[]
  /** How many positional arguments it takes, at least and at most. */
  readonly arity: readonly [number, number]
  /** Whether arguments after `--` mean something to it. */
  readonly takesRest?: boolean
  readonly options: O
  /** What the first argument is, for completion. */
  readonly completes?: 'package' | 'tool' | 'subcommand'
  readonly subcommands?: readonly string[]
  run(invocation: Invocation<O>): Promise<Answer> | Lines
}

/** Declares a command with its options' types inferred. */
export const defineCommand = <const O extends Readonly<Record<string, OptionSpec>>>(command: Command<O>): Command<O> => command
