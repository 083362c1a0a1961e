import type { PackageRecord } from '../../../../daemon/store/state.ts'
import type { Manifest, SandboxRequest } from '../../../../registry/manifest/manifest.ts'
import { parseManifest } from '../../../../registry/manifest/parseManifest.ts'

const MB = 1024 ** 2

/** A manifest that asks for nothing, with what a test changes of it. */
export function manifestOf(changes: { sandbox?: Partial<SandboxRequest> } & Omit<Partial<Manifest>, 'sandbox'> = {}): Manifest {
  const { sandbox, ...rest } = changes
  const base = parseManifest({
    id: 'weather',
    version: '1.0.0',
    name: 'Weather',
    description: 'x',
    type: 'mcp-server',
    mcp: { command: 'node', args: ['server.mjs'] },
  })
  return { ...base, ...rest, sandbox: { ...base.sandbox, ...sandbox } }
}

export function recordOf(manifest: Manifest, changes: Partial<PackageRecord> = {}): PackageRecord {
  return {
    id: manifest.id,
    version: manifest.version,
    manifest,
    manifestOrigin: 'file',
    resolution: { kind: 'folder', path: '/src/weather' },
    tree: `sha512-${'0'.repeat(128)}`,
    command: [manifest.entry.command, ...manifest.entry.args],
    env: {},
    secrets: [],
    grants: {
      network: { mode: 'none' },
      data: false,
      mounts: [],
      limits: { memoryBytes: 256 * MB, cpus: 1, pids: 128, tmpBytes: 64 * MB },
    },
    uid: 200_001,
    installedAt: '2026-11-22T00:00:00.000Z',
    ...changes,
  }
}
