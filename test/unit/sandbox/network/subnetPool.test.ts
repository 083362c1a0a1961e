import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatCidr, overlaps, parseCidr, sizeOf } from '../../../../sandbox/network/ipv4.ts'
import { pickSubnet } from '../../../../sandbox/network/subnetPool.ts'

const anyCidr = (base: number, size: number) =>
  fc.record({ offset: fc.integer({ min: 0, max: size - 1 }), prefix: fc.integer({ min: 20, max: 32 }) }).map(({ offset, prefix }) => {
    const address = base + offset
    return formatCidr({ base: address - (address % sizeOf(prefix)), prefix })
  })

describe('pickSubnet', () => {
  it('starts at the beginning of the pool', () => {
    expect(pickSubnet('10.83.0.0/16', [])).toEqual({ cidr: '10.83.0.0/30', gateway: '10.83.0.1', address: '10.83.0.2', prefix: 30 })
  })

  it('gives a hundred packages a network each', () => {
    const taken: string[] = []
    for (let count = 0; count < 100; count++) taken.push(pickSubnet('10.83.0.0/23', taken).cidr)
    expect(new Set(taken).size).toBe(100)
  })

  it('passes over networks of any size that overlap, nested ones included', () => {
    expect(pickSubnet('10.83.0.0/16', ['10.83.0.0/30', '10.83.0.0/24', '10.83.1.5', '192.168.0.0/16']).cidr).toBe('10.83.1.0/30')
    expect(pickSubnet('10.83.0.0/16', ['10.83.0.0/24', '10.83.1.0/30']).cidr).toBe('10.83.1.4/30')
  })

  it('is inside the pool, aligned, free, and the first of its kind', () => {
    const pool = parseCidr('10.83.16.0/20')
    fc.assert(
      fc.property(fc.array(anyCidr(pool.base - 4096, 12288), { maxLength: 40 }), (taken) => {
        const blocks = taken.map(parseCidr)
        const free = (base: number) => blocks.every((block) => !overlaps(block, { base, prefix: 30 }))
        const first = Array.from({ length: 1024 }, (_, index) => pool.base + index * 4).find(free)
        if (first === undefined) expect(() => pickSubnet('10.83.16.0/20', taken)).toThrow(/No free network/)
        else expect(parseCidr(pickSubnet('10.83.16.0/20', taken).cidr)).toEqual({ base: first, prefix: 30 })
      }),
    )
  })

  it('says when the pool is used up or too small', () => {
    expect(() => pickSubnet('10.83.0.0/30', ['10.83.0.0/16'])).toThrow(expect.objectContaining({ code: 'NETWORK_UNSUPPORTED' }))
    expect(() => pickSubnet('10.83.0.0/31', [])).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    expect(() => pickSubnet('ten', [])).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

describe('parseCidr', () => {
  it('reads back what formatCidr wrote', () => {
    fc.assert(
      fc.property(fc.nat({ max: 0xffffffff }), fc.integer({ min: 0, max: 32 }), (address, prefix) => {
        const cidr = { base: address - (address % sizeOf(prefix)), prefix }
        expect(parseCidr(formatCidr(cidr))).toEqual(cidr)
      }),
    )
  })

  it.each(['10.0.0/8', '10.0.0.256/8', '10.0.0.0/33', '010.0.0.0/8', '10.0.0.0/8/8', '10.0.0.0/', '::/0', ''])('refuses %j', (text) => {
    expect(() => parseCidr(text)).toThrow(/is not an IPv4 network/)
  })
})
