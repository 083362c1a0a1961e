import { PkgdError } from '../../daemon/core/errors.ts'

/** An IPv4 network: `base` is its first address as an unsigned 32-bit number, host bits cleared. */
export interface Cidr {
  readonly base: number
  readonly prefix: number
}

/** Dotted-quad text to a number, or undefined when it is not exactly four decimal octets. */
export function parseAddress(text: string): number | undefined {
  const octets = text.split('.')
  if (octets.length !== 4) return undefined
  let value = 0
  for (const octet of octets) {
    if (!/^(0|[1-9]\d{0,2})$/.test(octet) || Number(octet) > 255) return undefined
    value = value * 256 + Number(octet)
  }
  return value
}

export const formatAddress = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')

/** How many addresses a network of this prefix holds. */
export const sizeOf = (prefix: number): number => 2 ** (32 - prefix)

/** `10.0.0.0/8` (or a lone address, a /32) to a network; host bits are cleared. Errors: CONFIG_INVALID. */
export function parseCidr(text: string): Cidr {
  const [address = '', bits, ...rest] = text.split('/')
  const value = parseAddress(address)
  const prefix = bits === undefined ? 32 : /^\d{1,2}$/.test(bits) ? Number(bits) : 33
  if (value === undefined || prefix > 32 || rest.length > 0) {
    throw new PkgdError('CONFIG_INVALID', `"${text}" is not an IPv4 network`, {
      hint: 'write it as an address and a prefix, such as 10.83.0.0/16',
    })
  }
  return { base: value - (value % sizeOf(prefix)), prefix }
}

export const formatCidr = (cidr: Cidr): string => `${formatAddress(cidr.base)}/${cidr.prefix}`

export const contains = (cidr: Cidr, address: number): boolean => address >= cidr.base && address < cidr.base + sizeOf(cidr.prefix)

export const overlaps = (a: Cidr, b: Cidr): boolean => contains(a, b.base) || contains(b, a.base)
