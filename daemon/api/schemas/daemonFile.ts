/** `$PKGD_HOME/daemon.json`. One whose process is gone, or began at another time than `started_at` says, is ignored. */
export interface DaemonFile {
  readonly pid: number
  readonly url: string
  readonly version: string
  /** RFC 3339; when the process began, not when it was ready. */
  readonly started_at: string
}
