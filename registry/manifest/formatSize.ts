const steps = [
  { name: 'GB', bytes: 1024 ** 3 },
  { name: 'MB', bytes: 1024 ** 2 },
  { name: 'kB', bytes: 1024 },
]

/** The shortest exact text of a size, which `parseSize` reads back: 268435456 is "256MB", 1000 is "1000B". */
export function formatSize(bytes: number): string {
  const step = steps.find((candidate) => bytes >= candidate.bytes && bytes % candidate.bytes === 0)
  return step ? `${bytes / step.bytes}${step.name}` : `${bytes}B`
}
