/** Packages of one daemon before it runs into its neighbour's uids, and how many daemons on a machine are told apart. */
const size = 1024
const ranges = 8192

/**
 * The first uid of a daemon's packages, at or above the configured one. Daemons share the uids of a machine and its engine: with the same uids a package of one
 * could signal those of the other's, read what is theirs, and use up what the kernel counts by user.
 */
export function toFirstUid(daemonId: string, configured: number): number {
  return configured + (Number.parseInt(daemonId, 16) % ranges) * size
}
