import { PkgdError } from '../../daemon/core/errors.ts'
import type { DriverCapabilities, LaunchSpec, LimitName, LimitReading, SandboxReport } from '../sandboxDriver.ts'

/** What a fake sandbox's limits read back as: those that the capabilities call unenforced are refused unless the spec lets them pass. */
export function toFakeReport(spec: LaunchSpec, capabilities: DriverCapabilities): SandboxReport {
  const read = (name: LimitName, asked: number): LimitReading => {
    const reason = capabilities.unenforced[name]
    if (reason === undefined) return { asked, engine: asked, effective: asked, enforced: true }
    if (!spec.allowUnenforced.includes(name)) {
      throw new PkgdError('LIMIT_NOT_ENFORCED', `The ${name} limit of ${spec.identity.packageId} cannot be enforced: ${reason}`, {
        hint: `limits.allow_unenforced: [${name}] in pkgd.yaml lets it pass`,
      })
    }
    return { asked, engine: asked, effective: null, enforced: false, note: reason }
  }
  if (!capabilities.network.includes(spec.network.mode)) {
    const reason = capabilities.networkRefused[spec.network.mode] ?? 'the driver cannot'
    throw new PkgdError('NETWORK_UNSUPPORTED', `The network mode ${spec.network.mode} cannot be enforced: ${reason}`)
  }
  const { limits } = spec
  return {
    limits: {
      memory: read('memory', limits.memoryBytes),
      cpu: read('cpu', limits.cpus),
      pids: read('pids', limits.pids),
      tmp: read('tmp', limits.tmpBytes),
    },
    readOnlyRoot: true,
    capabilities: [],
    noNewPrivileges: true,
    seccomp: true,
    user: `${spec.uid}:${spec.uid}`,
    init: true,
    network: spec.network.mode,
    image: spec.image.id,
  }
}
