import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { hasCode } from '../core/errors.ts'
import type { Home } from '../core/home.ts'

interface Identity {
  /** 8 lowercase hex digits: the daemon's label on everything it makes. */
  readonly id: string
  /** True when the home was copied here: what its state says of sandboxes is about another daemon's. */
  readonly copied: boolean
}

/** What an id is bound to: this machine and this path. */
function fingerprint(home: Home, machineId: string): string {
  return createHash('sha256')
    .update(`${machineId}\0${realpathSync(home.root)}`)
    .digest('hex')
}

function readMachineId(): string {
  for (const path of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    try {
      const id = readFileSync(path, 'utf8').trim()
      if (id) return id
    } catch (error) {
      // Not every system has one; the next best is asked.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
  return hostname()
}

function readIdentity(path: string): { id: string; bound: string } | undefined {
  try {
    const match = /^([0-9a-f]{8}) ([0-9a-f]{64})$/.exec(readFileSync(path, 'utf8').trim())
    return match?.[1] && match[2] ? { id: match[1], bound: match[2] } : undefined
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/**
 * The daemon's id, kept in a file of its own so that a damaged database does not lose it. It is random, so that machines that are clones of
 * each other differ once their paths or machine ids do; a home that was copied gets a new one and so owns nothing of the other's.
 */
export function bindIdentity(home: Home, machineId = readMachineId()): Identity {
  const bound = fingerprint(home, machineId)
  const known = readIdentity(home.identity)
  if (known?.bound === bound) return { id: known.id, copied: false }
  const id = randomBytes(4).toString('hex')
  writeFileSync(`${home.identity}.new`, `${id} ${bound}\n`, { mode: 0o600, flush: true })
  renameSync(`${home.identity}.new`, home.identity)
  return { id, copied: known !== undefined }
}
