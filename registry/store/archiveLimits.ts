/** How much one archive, or one package's folder, may hold. */
export interface ArchiveLimits {
  /** Most bytes unpacked. */
  readonly archiveBytes: number
  /** Most entries, directories and links included. */
  readonly archiveEntries: number
}
