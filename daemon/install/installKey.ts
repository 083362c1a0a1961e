import { createHash } from 'node:crypto'
import type { InstallRequest } from './installer.ts'

/** Two requests for the very same thing have the same key and become one job. A hash: the request may hold secrets. */
export function installKey(request: InstallRequest): string {
  const sorted = JSON.stringify(request, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
  return `install:${createHash('sha256').update(sorted).digest('hex')}`
}
