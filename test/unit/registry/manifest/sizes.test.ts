import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatSize } from '../../../../registry/manifest/formatSize.ts'
import { parseDuration } from '../../../../registry/manifest/parseDuration.ts'
import { parseHostPort } from '../../../../registry/manifest/parseHostPort.ts'
import { parseRate } from '../../../../registry/manifest/parseRate.ts'
import { parseSize } from '../../../../registry/manifest/parseSize.ts'

describe('parseSize', () => {
  it.each([
    ['256MB', 268_435_456],
    ['1.5 GiB', 1_610_612_736],
    ['512k', 524_288],
    ['64m', 67_108_864],
    ['1kb', 1024],
    ['10', 10],
    ['10B', 10],
    [4096, 4096],
    [0, 0],
  ])('%j is %d bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes))

  it.each([
    '',
    'MB',
    '-1MB',
    '1XB',
    '1 M B',
    '1e3',
    '0x10',
    '1,5GB',
    '99999999TB',
    ' 1MB',
    'iB',
    '1iB',
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('%j is no size', (text) => expect(parseSize(text)).toBeUndefined())

  it('reads back what formatSize writes', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (bytes) => parseSize(formatSize(bytes)) === bytes))
  })

  it('gives an exact number of bytes or nothing, whatever the text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const bytes = parseSize(text)
        return bytes === undefined || (Number.isSafeInteger(bytes) && bytes >= 0)
      }),
    )
  })
})

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['2 s', 2000],
  ])('%j is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms))

  it.each(['', '10', '10 minutes', '-1s', '1M', 's', '1s1s', '999999999999d'])('%j is no duration', (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  )

  it('is linear in the amount', () => {
    const unit = fc.constantFrom(['ms', 1], ['s', 1000], ['m', 60_000], ['h', 3_600_000], ['d', 86_400_000] as const)
    fc.assert(fc.property(fc.nat(100_000), unit, (amount, [name, ms]) => parseDuration(`${amount}${name}`) === amount * Number(ms)))
  })
})

describe('parseRate', () => {
  it.each([
    ['60/min', { count: 60, perMs: 60_000 }],
    ['5/s', { count: 5, perMs: 1000 }],
    ['1000/day', { count: 1000, perMs: 86_400_000 }],
  ])('%j', (text, rate) => expect(parseRate(text)).toEqual(rate))

  it.each(['0/min', '60', '60/', '60/constructor', '1.5/s', '60 / min', '99999999999999999999/s'])('%j is no rate', (text) =>
    expect(parseRate(text)).toBeUndefined(),
  )
})

describe('parseHostPort', () => {
  it.each([
    ['api.Example.com:443', { host: 'api.example.com', port: 443 }],
    ['[2001:db8::1]:8080', { host: '2001:db8::1', port: 8080 }],
    ['10.0.0.1:53', { host: '10.0.0.1', port: 53 }],
  ])('%j', (text, target) => expect(parseHostPort(text)).toEqual(target))

  it.each(['example.com', ':443', 'example.com:0', 'example.com:70000', 'https://example.com:443', '*.example.com:443', 'a b:1'])(
    '%j is none',
    (text) => expect(parseHostPort(text)).toBeUndefined(),
  )
})
