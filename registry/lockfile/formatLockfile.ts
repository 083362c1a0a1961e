import type { LockedPackage, Lockfile } from './lockfile.ts'

/** Code unit order: the same on every machine, whatever its locale. */
const sorted = <T>(record: Readonly<Record<string, T>>): [string, T][] =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))

const toEntry = ({ version, resolution, tree, dependencies, extensions }: LockedPackage) => {
  const { kind, ...rest } = resolution
  return {
    version,
    resolution: { kind, ...Object.fromEntries(sorted(rest)) },
    tree,
    dependencies: Object.fromEntries(sorted(dependencies)),
    extensions: Object.fromEntries(sorted(extensions)),
  }
}

/** The text of a lockfile: the same bytes for the same content, whatever order it came in. */
export function formatLockfile(lockfile: Lockfile): string {
  const packages = Object.fromEntries(sorted(lockfile.packages).map(([id, locked]) => [id, toEntry(locked)]))
  return `${JSON.stringify({ lockfile_version: lockfile.lockfileVersion, packages }, null, 2)}\n`
}
