import { parseHostPort } from '../../registry/manifest/parseHostPort.ts'
import { parseSize } from '../../registry/manifest/parseSize.ts'
import { checkEnvironmentName } from '../core/environmentName.ts'
import { type Issue, PkgdError } from '../core/errors.ts'
import type { NetworkPolicy } from '../core/types.ts'
import type { InstallRequest, Permissions } from '../install/installer.ts'
import type { InstallBody } from './schemas/packages.ts'

type Asked = NonNullable<InstallBody['permissions']>

const refuse = (pointer: string, message: string, fix: string): never => {
  const issue: Issue = { pointer, message, fix }
  throw new PkgdError('USAGE', `The body is not of the expected form: ${pointer} ${message}`, { hint: fix, issues: [issue] })
}

function toBytes(key: 'memoryLimit' | 'tmpSize', size: string | number): number {
  return parseSize(size) || refuse(`/permissions/${key}`, `"${size}" is not a size`, 'write a size such as "256MB"')
}

function toNetwork(network: NonNullable<Asked['network']>): NetworkPolicy {
  if (typeof network === 'boolean') return { mode: network ? 'internet' : 'none' }
  const targets = network.allow.map(
    (text, index) =>
      parseHostPort(text) ?? refuse(`/permissions/network/allow/${index}`, `"${text}" is not host:port`, 'write "api.example.com:443"'),
  )
  return { mode: 'allow', targets }
}

function toFilesystem(filesystem: NonNullable<Asked['filesystem']>): Pick<Permissions, 'filesystem' | 'mounts'> {
  if (typeof filesystem === 'boolean') return { filesystem }
  return {
    ...(filesystem.data === undefined ? {} : { filesystem: filesystem.data }),
    mounts: filesystem.mounts.map(({ source, target, mode }) => ({ source, target, readOnly: mode !== 'rw' })),
  }
}

function toPermissions(asked: Asked): Permissions {
  return {
    ...(asked.network === undefined ? {} : { network: toNetwork(asked.network) }),
    ...(asked.filesystem === undefined ? {} : toFilesystem(asked.filesystem)),
    ...(asked.memoryLimit === undefined ? {} : { memoryBytes: toBytes('memoryLimit', asked.memoryLimit) }),
    ...(asked.cpuLimit === undefined ? {} : { cpus: asked.cpuLimit }),
    ...(asked.pidsLimit === undefined ? {} : { pids: asked.pidsLimit }),
    ...(asked.tmpSize === undefined ? {} : { tmpBytes: toBytes('tmpSize', asked.tmpSize) }),
  }
}

function checkNames(key: 'env' | 'secrets', values: InstallBody['env']): Readonly<Record<string, string | null>> {
  for (const name of Object.keys(values ?? {})) {
    const wrong = checkEnvironmentName(name)
    if (wrong) refuse(`/${key}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, `"${name}" ${wrong}`, 'use another name')
  }
  return values ?? {}
}

/** Null: everything in the lockfile. Errors: USAGE. */
export function toInstallRequest(body: InstallBody): InstallRequest | null {
  if (body.spec === undefined) {
    if (body.frozen) return null
    return refuse('/spec', '"spec" is missing', 'name what to install, or ask for { "frozen": true }')
  }
  return {
    spec: body.spec,
    ...(body.integrity === undefined ? {} : { integrity: body.integrity }),
    args: body.args ?? [],
    env: checkNames('env', body.env),
    secrets: checkNames('secrets', body.secrets),
    permissions: toPermissions(body.permissions ?? {}),
    consent: body.consent ?? false,
    start: body.start ?? false,
    frozen: body.frozen ?? false,
  }
}
