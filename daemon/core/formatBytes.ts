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
