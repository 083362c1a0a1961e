import { describe, expect, it } from 'vitest'
import { formatAge } from '../../../cli/terminal/formatAge.ts'
import { toPairs, toTable } from '../../../cli/terminal/table.ts'
import { formatBytes } from '../../../daemon/core/formatBytes.ts'

describe('toTable', () => {
  it('aligns columns without trailing blanks', () =>
    expect(
      toTable(
        ['A', 'LONG'],
        [
          ['wide cell', 'x'],
          ['', 'yy'],
        ],
        'none',
      ),
    ).toBe('A          LONG\nwide cell  x\n           yy'))
  it('says what an empty list means', () => expect(toTable(['A'], [], 'Nothing.')).toBe('Nothing.'))
})

describe('toPairs', () => {
  it('leaves out what is unknown and indents further lines', () =>
    expect(
      toPairs([
        ['a', '1'],
        ['gone', undefined],
        ['long', 'x\ny'],
      ]),
    ).toBe('a     1\nlong  x\n      y'))
})

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1 kB'],
    [1536, '1.5 kB'],
    [268_435_456, '256 MB'],
    [12_884_901_888, '12 GB'],
  ])('%d is %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))
})

describe('formatAge', () => {
  const now = Date.parse('2026-01-02T00:00:00Z')
  it.each([
    ['2026-01-01T23:59:57Z', '3s'],
    ['2026-01-01T23:55:00Z', '5m'],
    ['2026-01-01T22:00:00Z', '2h'],
    ['2025-12-29T00:00:00Z', '4d'],
    ['2026-01-02T00:00:05Z', '0s'],
  ])('%s is %s ago', (time, text) => expect(formatAge(time, now)).toBe(text))
})
