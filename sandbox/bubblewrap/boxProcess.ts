import { type ChildProcess, spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { runFile } from './sandboxRecord.ts'

/** What is needed to start bwrap in a run directory that holds its arguments and its filter. */
export interface BoxOrders {
  readonly directory: string
  /** The command inside, after bwrap's options. */
  readonly command: readonly string[]
  /** Files that take the number of a process into the sandbox's cgroups. */
  readonly entrances: readonly string[]
  /** Path of a network namespace to start in, or null. */
  readonly networkNamespace: string | null
  /** Whether the filter is there: no filter is written for this machine's architecture otherwise. */
  readonly filtered: boolean
}

export interface BoxProcess {
  readonly child: ChildProcess
  readonly stdout: Readable
  readonly stderr: Readable
  /** Host id of PID 1 of the sandbox, once the package's user is taken on; undefined when it ended before. */
  readonly ready: Promise<number | undefined>
  /** Exit code as a shell says it, when everything it wrote has been read. */
  readonly closed: Promise<number>
}

/** Enters the cgroups, then becomes the rest of its arguments. No core files: they would go to the host's idea of a place. */
const enter = 'ulimit -c 0; umask 022; n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ >"$1" || exit 70; shift; n=$((n-1)); done; exec "$@"'

/** Descriptors that bwrap is given besides the usual three. */
const statusDescriptor = 3
const argumentsDescriptor = 5
const filterDescriptor = 6

export async function startBox({ directory, command, entrances, networkNamespace, filtered }: BoxOrders): Promise<BoxProcess> {
  const args = await open(join(directory, runFile.arguments), 'r')
  const filter = filtered ? await open(join(directory, runFile.filter), 'r') : undefined
  try {
    const bwrap = [
      ...['bwrap', '--args', String(argumentsDescriptor), '--json-status-fd', String(statusDescriptor)],
      ...(filter ? ['--seccomp', String(filterDescriptor)] : []),
      ...['--', ...command],
    ]
    const inNetwork = networkNamespace === null ? bwrap : ['nsenter', `--net=${networkNamespace}`, ...bwrap]
    const child = spawn('/bin/sh', ['-c', enter, 'sh', String(entrances.length), ...entrances, ...inNetwork], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', args.fd, filter?.fd ?? 'ignore'],
      env: { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`, LC_ALL: 'C' },
    })
    return watchBox(child)
  } finally {
    await args.close()
    await filter?.close()
  }
}

function watchBox(child: ChildProcess): BoxProcess {
  const [, stdout, stderr, status, announcement] = child.stdio
  if (!isReadable(stdout) || !isReadable(stderr) || !isReadable(status) || !isReadable(announcement))
    throw new Error('a pipe to bwrap is missing')
  let init: number | undefined
  let text = ''
  status.setEncoding('utf8')
  status.on('data', (chunk: string) => {
    text += chunk
    init ??= Number(/"child-pid": (\d+)/.exec(text)?.[1] ?? Number.NaN) || undefined
  })
  const closed = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 128)))
  })
  const ready = new Promise<number | undefined>((resolve) => {
    announcement.resume()
    // The status is written before the package's user is taken on, yet may be read after.
    announcement.once('close', () => (init === undefined ? status.once('data', () => resolve(init)) : resolve(init)))
    closed.then(
      () => resolve(undefined),
      () => resolve(undefined),
    )
  })
  return { child, stdout, stderr, ready, closed }
}

const isReadable = (stream: unknown): stream is Readable => typeof stream === 'object' && stream !== null && 'read' in stream
