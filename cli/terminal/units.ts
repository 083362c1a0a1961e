const steps = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Bytes in powers of 1024, as the manifest writes them: `256 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let step = 0
  while (value >= 1024 && step < steps.length - 1) {
    value /= 1024
    step++
  }
  return `${Number(value.toFixed(value < 10 && step > 0 ? 1 : 0))} ${steps[step]}`
}

/** How long ago an RFC 3339 time was: `3s`, `5m`, `2h`, `4d`. */
export function formatAge(time: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}
