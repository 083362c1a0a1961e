import { readFileSync } from 'node:fs'
import { hasCode } from '../../daemon/core/errors.ts'
import { type Cidr, formatCidr, overlaps, parseCidr } from './ipv4.ts'

/** The IPv4 routes of /proc/net/route, whose numbers are hexadecimal in the machine's byte order (little-endian on all that pkgd runs on). */
export function parseRoutes(text: string): Cidr[] {
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/))
    .filter((fields) => fields.length > 7)
    .map((fields) => ({ base: toAddress(fields[1] ?? '0'), prefix: toPrefix(toAddress(fields[7] ?? '0')) }))
}

/** Networks inside `pool` that this host has a route to. A wider route, such as a VPN's to the whole of 10/8, does not use up the pool. */
export function readConnectedNetworks(pool: string, path = '/proc/net/route'): string[] {
  const whole = parseCidr(pool)
  return readRoutes(path)
    .filter((route) => route.prefix >= whole.prefix && overlaps(route, whole))
    .map(formatCidr)
}

function readRoutes(path: string): Cidr[] {
  try {
    return parseRoutes(readFileSync(path, 'utf8'))
  } catch (error) {
    // Not Linux: nothing is allocated there for this host's own interfaces.
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

const toAddress = (hex: string): number => Buffer.from(hex.padStart(8, '0'), 'hex').readUInt32LE()

const toPrefix = (mask: number): number => mask.toString(2).replaceAll('0', '').length
