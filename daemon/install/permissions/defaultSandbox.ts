import type { SandboxRequest } from '../../../registry/manifest/manifest.ts'

/** What every package gets without asking; more than this needs consent. */
export const defaultSandbox: Pick<SandboxRequest, 'memoryBytes' | 'cpus' | 'pids' | 'tmpBytes'> = {
  memoryBytes: 256 * 1024 ** 2,
  cpus: 1,
  pids: 128,
  tmpBytes: 64 * 1024 ** 2,
}
