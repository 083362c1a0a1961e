import { posix } from 'node:path'
import type { MountGrant } from '../../daemon/core/types.ts'
import { toSharedMemoryBytes } from '../confinement/sharedMemory.ts'
import { boxMountPoint } from '../starter/starterCommand.ts'
import type { HiddenPlaces } from './hiddenPlaces.ts'
import type { RootLayout } from './rootLayout.ts'

/** A sandbox as bwrap is told it. Paths are absolute and the host's, but for targets. */
export interface BoxPlan {
  readonly root: string
  readonly layout: RootLayout
  /** The package's tree, at /app; null for a build, which brings what it needs in mounts. */
  readonly tree: string | null
  readonly box: string
  readonly mounts: readonly MountGrant[]
  /** What of /proc says more about the host than a package needs. */
  readonly hidden: HiddenPlaces
  readonly tmpBytes: number
  /** Files over the image's own in /etc: who the package's user is, and the resolver where there is a network. */
  readonly files: readonly MountGrant[]
  /** Whether bwrap makes a network namespace with nothing in it; else it is started in one that is ready. */
  readonly isolateNetwork: boolean
  /** Whether bwrap runs as root and the package's user is taken on inside; else the only user there is stands for the package's. */
  readonly asRoot: boolean
  readonly uid: number
  readonly env: Readonly<Record<string, string>>
}

/** What the package's own user is made with, inside: no capability, no way to gain one. setpriv itself needs three. */
const ownUserCapabilities = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP']

/** Places in the empty root that are made one below the other, readable by everyone; a mount that bwrap makes room for by itself would be root's alone. */
function toParents(targets: readonly string[]): string[] {
  const parents = new Set<string>()
  for (const target of targets) {
    const steps = target.split('/').filter(Boolean)
    for (let depth = 1; depth < steps.length; depth++) parents.add(`/${steps.slice(0, depth).join('/')}`)
  }
  return [...parents].sort()
}

/** bwrap's options up to the command. Order matters: later mounts stand on earlier ones, and the root is closed last. */
export function toBwrapOptions(plan: BoxPlan): string[] {
  const { layout, root } = plan
  const taken = new Set([...layout.directories, ...layout.links.map(({ name }) => name), 'proc', 'dev', 'tmp'])
  const targets = [boxMountPoint, ...plan.mounts.map(({ target }) => target)]
  const parents = toParents(targets).filter((parent) => !taken.has(parent.split('/')[1] ?? ''))
  return [
    ...(plan.asRoot ? [] : ['--unshare-user', '--uid', String(plan.uid), '--gid', String(plan.uid)]),
    ...['--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
    ...(plan.isolateNetwork ? ['--unshare-net'] : []),
    ...['--die-with-parent', '--new-session', '--hostname', 'sandbox'],
    ...['--tmpfs', '/'],
    ...layout.directories.flatMap((name) => ['--ro-bind', posix.join(root, name), `/${name}`]),
    ...layout.links.flatMap(({ name, target }) => ['--symlink', target, `/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...plan.hidden.files.flatMap((path) => ['--dev-bind', '/dev/null', path]),
    ...plan.hidden.directories.flatMap((path) => ['--size', '4096', '--perms', '0555', '--tmpfs', path, '--remount-ro', path]),
    ...['--size', String(toSharedMemoryBytes(plan)), '--perms', '1777', '--tmpfs', '/dev/shm'],
    ...['--size', String(plan.tmpBytes), '--perms', '1777', '--tmpfs', '/tmp'],
    ...plan.files.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    ...parents.flatMap((parent) => ['--perms', '0755', '--dir', parent]),
    ...(plan.tree === null ? [] : ['--ro-bind', plan.tree, '/app']),
    ...['--ro-bind', plan.box, boxMountPoint],
    ...plan.mounts.flatMap(({ source, target, readOnly }) => [readOnly ? '--ro-bind' : '--bind', source, target]),
    ...['--remount-ro', '/'],
    ...['--chdir', plan.tree === null ? '/tmp' : '/app'],
    '--clearenv',
    ...Object.entries(plan.env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--cap-drop', 'ALL'],
    ...(plan.asRoot ? ownUserCapabilities.flatMap((capability) => ['--cap-add', capability]) : []),
  ]
}

/** Number of the descriptor whose closing says that the package's user is taken on. */
export const readyDescriptor = 4

/** What bwrap starts inside: takes on the package's user for good, says so, and becomes the command. */
export function toInnerCommand(command: readonly string[], uid: number, asRoot: boolean): string[] {
  const user = String(uid)
  const setpriv = [
    'setpriv',
    '--reuid',
    user,
    '--regid',
    user,
    '--clear-groups',
    '--no-new-privs',
    '--bounding-set=-all',
    '--inh-caps=-all',
  ]
  const announce = ['/bin/sh', '-c', `exec ${readyDescriptor}>&-; exec "$0" "$@"`]
  return [...(asRoot ? setpriv : []), ...announce, ...command]
}
