import { execFileSync } from 'node:child_process'
import { engineAnswers, onPath } from './provisionEngine.ts'

/** What a test may need of the machine. */
export type Requirement =
  | 'docker'
  | 'bubblewrap'
  | 'root'
  | 'docker-registry'
  | 'netns'
  | 'debootstrap'
  | 'python'
  | 'npm-registry'
  | 'pypi'
  | 'zsh'
  | 'fish'

const checks: Record<Requirement, () => Promise<string | null>> = {
  docker: async () => ((await engineAnswers()) ? null : 'no container engine answers'),
  bubblewrap: async () => ((await onPath('bwrap')) ? null : 'bubblewrap (bwrap) is not installed'),
  root: async () => (process.getuid?.() === 0 ? null : 'needs root'),
  'docker-registry': async () => ((await onPath('docker-registry')) ? null : "Debian's docker-registry is not installed"),
  netns: async () => {
    if (process.getuid?.() !== 0) return 'network namespaces need root'
    if (!(await onPath('ip'))) return 'iproute2 is not installed'
    return (await onPath('iptables')) ? null : 'iptables is not installed'
  },
  debootstrap: async () => ((await onPath('debootstrap')) ? null : 'debootstrap is not installed'),
  python: async () => ((await onPath('python3')) ? null : 'python3 is not installed'),
  zsh: async () => ((await onPath('zsh')) ? null : 'zsh is not installed'),
  fish: async () => ((await onPath('fish')) ? null : 'fish is not installed'),
  'npm-registry': async () => reachable(['npm', 'view', 'semver', 'version'], 'the npm registry cannot be reached'),
  pypi: async () =>
    reachable(['python3', '-m', 'pip', 'download', '--no-deps', '-q', '-d', '/tmp', 'six==1.17.0'], 'the PyPI index cannot be reached'),
}

/** Null when the machine has it all, else why not: what `describe.skipIf` and the closing list of `npm test` show. */
export async function missing(...needs: Requirement[]): Promise<string | null> {
  for (const need of needs) {
    const reason = await checks[need]()
    if (reason !== null) return reason
  }
  return null
}

async function reachable([command = '', ...args]: string[], reason: string): Promise<string | null> {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 30_000 })
    return null
  } catch {
    return reason
  }
}
