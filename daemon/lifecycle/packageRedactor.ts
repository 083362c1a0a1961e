import { createRedactor, type Redactor } from '../core/redactor.ts'
import type { PackageRecord, State } from '../store/state.ts'

/** Takes out what a package was given in confidence: its secrets, and what was given for the sensitive entries of its configuration. */
export function createPackageRedactor(record: PackageRecord, secrets: Pick<State['secrets'], 'get'>): Redactor {
  const kept = record.secrets.map((name) => secrets.get(record.id, name))
  const sensitive = Object.entries(record.manifest.config)
    .filter(([, entry]) => entry.sensitive)
    .flatMap(([name, entry]) => [record.env[name], record.env[entry.env]])
  return createRedactor([...kept, ...sensitive].filter((value) => value !== undefined))
}
