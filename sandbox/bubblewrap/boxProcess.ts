import { type ChildProcess, spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { MountGrant } from '../../daemon/core/types.ts'
import { openSource } from '../confinement/mountSources.ts'
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
  /** The user's mounts: each source is held open and bound to a place in the run directory, where bwrap finds it; what becomes of the path changes nothing. */
  readonly pins: readonly MountPin[]
  /** Whether the filter is there: no filter is written for this machine's architecture otherwise. */
  readonly filtered: boolean
}

export interface MountPin extends MountGrant {
  readonly at: string
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

/**
 * Binds each first argument of a pair to the second, then becomes the rest. Nothing on the way may look the source up by its name: `-c` hands it to the kernel
 * as it is.
 */
const bind = 'n=$1; shift; while [ "$n" -gt 0 ]; do mount -c --rbind "$1" "$2" || exit 70; shift 2; n=$((n-1)); done; exec "$@"'

/** Descriptors that bwrap is given besides the usual three. */
const statusDescriptor = 3
const argumentsDescriptor = 5
const filterDescriptor = 6

/** With pins the calling process has a mount namespace of its own: binding is done in it. Errors: MOUNT_REFUSED for a source that is no longer what it was. */
export async function startBox({ directory, command, entrances, networkNamespace, pins, filtered }: BoxOrders): Promise<BoxProcess> {
  await using opened = new AsyncDisposableStack()
  const args = opened.use(await open(join(directory, runFile.arguments), 'r'))
  const filter = filtered ? opened.use(await open(join(directory, runFile.filter), 'r')) : undefined
  const held = await holdSources(pins)
  const bwrap = [
    ...['bwrap', '--args', String(argumentsDescriptor), '--json-status-fd', String(statusDescriptor)],
    ...(filter ? ['--seccomp', String(filterDescriptor)] : []),
    ...['--', ...command],
  ]
  const withMounts = pins.length === 0 ? bwrap : ['/bin/sh', '-c', bind, 'sh', String(pins.length), ...held.bindings, ...bwrap]
  const inNetwork = networkNamespace === null ? withMounts : ['nsenter', `--net=${networkNamespace}`, ...withMounts]
  const child = spawn('/bin/sh', ['-c', enter, 'sh', String(entrances.length), ...entrances, ...inNetwork], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', args.fd, filter?.fd ?? 'ignore'],
    env: { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`, LC_ALL: 'C' },
  })
  const box = watchBox(child)
  // Either it is bound by then, or it never will be.
  void box.ready.then(() => held[Symbol.asyncDispose]())
  return box
}

/** Opens every source here; the path by which this process holds it is what is bound. */
async function holdSources(pins: readonly MountPin[]) {
  await using opened = new AsyncDisposableStack()
  const bindings: string[] = []
  for (const pin of pins) {
    const place = opened.use(await openSource(pin))
    bindings.push(`/proc/${process.pid}/fd/${place.fd}`, pin.at)
  }
  const held = opened.move()
  return { bindings, [Symbol.asyncDispose]: () => held.disposeAsync() }
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
