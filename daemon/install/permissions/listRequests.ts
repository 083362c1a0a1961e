import { formatSize } from '../../../registry/manifest/formatSize.ts'
import type { Manifest } from '../../../registry/manifest/manifest.ts'
import type { PermissionRequest } from '../installer.ts'
import { defaultSandbox } from './defaultSandbox.ts'
import { describeNetwork, toNetworkPolicy } from './toNetworkPolicy.ts'

/** A request with what it would take for the user to settle it alone. */
export interface Request extends PermissionRequest {
  /** The same request of two manifests has the same key: an upgrade asks only for what is new. */
  readonly key: string
  /** The option of `pkg install` that settles it. */
  readonly option: string
  /** JSON pointer into the manifest. */
  readonly pointer: string
}

/** What a manifest asks beyond the default sandbox, in a fixed order. Asking for less than the default is no request. */
export function listRequests(manifest: Manifest): Request[] {
  const { id: packageId, sandbox } = manifest
  const requests: Request[] = []
  const ask = (kind: PermissionRequest['kind'], value: string, rest: Pick<Request, 'text' | 'option' | 'pointer'>) =>
    requests.push({ packageId, kind, key: `${kind} ${value}`, ...rest })

  const network = toNetworkPolicy(sandbox.network)
  if (network.mode !== 'none') {
    const reach = describeNetwork(network)
    const option =
      network.mode === 'internet' ? '--network internet' : network.targets.map((t) => `--network ${t.host}:${t.port}`).join(' ')
    ask('network', reach, { text: `reach ${reach}`, option, pointer: '/sandbox/network' })
  }
  if (sandbox.data) ask('data', 'data', { text: 'keep files of its own in /data', option: '--yes', pointer: '/sandbox/filesystem' })
  for (const [index, mount] of sandbox.mounts.entries()) {
    const access = mount.readOnly ? 'read' : 'read and write'
    const why = mount.description ? ` (${mount.description})` : ''
    ask('mount', `${mount.target} ${mount.readOnly ? 'ro' : 'rw'}`, {
      text: `${access} a folder of yours at ${mount.target}, for ${mount.name}${why}`,
      option: `--mount <folder>:${mount.target}${mount.readOnly ? ':ro' : ''}`,
      pointer: `/sandbox/filesystem/mounts/${index}`,
    })
  }
  const size = (kind: 'memory' | 'tmp', bytes: number, usual: number, rest: { what: string; option: string; pointer: string }) => {
    if (bytes <= usual) return
    const text = `use ${formatSize(bytes)} of ${rest.what} (the default is ${formatSize(usual)})`
    ask(kind, String(bytes), { text, option: rest.option, pointer: rest.pointer })
  }
  size('memory', sandbox.memoryBytes, defaultSandbox.memoryBytes, {
    what: 'memory',
    option: `--memory ${formatSize(sandbox.memoryBytes)}`,
    pointer: '/sandbox/memory_limit',
  })
  if (sandbox.cpus > defaultSandbox.cpus) {
    ask('cpu', String(sandbox.cpus), {
      text: `use ${sandbox.cpus} CPUs (the default is ${defaultSandbox.cpus})`,
      option: `--cpus ${sandbox.cpus}`,
      pointer: '/sandbox/cpu_limit',
    })
  }
  if (sandbox.pids > defaultSandbox.pids) {
    ask('pids', String(sandbox.pids), {
      text: `run up to ${sandbox.pids} processes and threads (the default is ${defaultSandbox.pids})`,
      option: '--yes',
      pointer: '/sandbox/pids_limit',
    })
  }
  size('tmp', sandbox.tmpBytes, defaultSandbox.tmpBytes, { what: 'space in /tmp', option: '--yes', pointer: '/sandbox/tmp_size' })
  if (sandbox.image) {
    ask('image', sandbox.image, {
      text: `run on the image ${sandbox.image} instead of pkgd's own`,
      option: '--yes',
      pointer: '/sandbox/image',
    })
  }
  return requests
}
