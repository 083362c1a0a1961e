import { PkgdError } from '../../../../daemon/core/errors.ts'
import { parseManifest } from '../../../../registry/manifest/parseManifest.ts'
import type { GraphRequest } from '../../../../registry/resolve/graphRequest.ts'
import type { Candidate, InstalledPackage, Plan } from '../../../../registry/resolve/resolution.ts'

export type Needs = Record<string, string>

const manifest = (id: string, version: string, extensions: Needs = {}) =>
  parseManifest({ id, name: id, version, type: 'mcp-server', mcp: { command: 'node' }, dependencies: { extensions } })

export const candidate = (id: string, version: string, needs: Needs = {}): Candidate => ({
  resolution: { kind: 'archive', path: `/srv/${id}-${version}.tgz`, integrity: 'sha512-x' },
  manifest: manifest(id, version, needs),
  manifestOrigin: 'file',
  layout: 'files',
})

export const installed = (id: string, version: string, needs: Needs = {}): InstalledPackage => {
  const { resolution, manifest } = candidate(id, version, needs)
  return { id, version, resolution, manifest }
}

export const registry =
  (...all: Candidate[]): GraphRequest['candidates'] =>
  (id) => {
    const found = all.filter((entry) => entry.manifest.id === id)
    return found.length > 0 ? Promise.resolve(found) : Promise.reject(new PkgdError('PACKAGE_NOT_FOUND', `no ${id}`))
  }

export const brief = (plan: Plan) => plan.packages.map((entry) => `${entry.action} ${entry.manifest.id}@${entry.manifest.version}`)

export const offline: GraphRequest['candidates'] = () => Promise.reject(new PkgdError('REGISTRY_UNREACHABLE', 'offline'))
