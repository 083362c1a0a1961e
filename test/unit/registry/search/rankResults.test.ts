import { expect, test } from 'vitest'
import type { SearchResult } from '../../../../registry/resolve/resolution.ts'
import { rankResults } from '../../../../registry/search/rankResults.ts'

const result = (id: string, fields: Partial<SearchResult> = {}): SearchResult => ({
  id,
  name: id,
  version: '1.0.0',
  type: 'mcp-server',
  description: '',
  spec: id,
  registry: 'one',
  ...fields,
})

test('the very id first, then beginnings, parts, names, descriptions; ties keep the order of the registries', () => {
  const results = [
    result('x', { description: 'says weather' }),
    result('y', { name: 'The Weather' }),
    result('my-weather'),
    result('weather-tool'),
    result('weather', { registry: 'two' }),
    result('weather-app', { registry: 'two' }),
  ]
  expect(rankResults(results, ' Weather ').map(({ id }) => id)).toEqual(['weather', 'weather-tool', 'weather-app', 'my-weather', 'y', 'x'])
})

test('of several versions in one registry the newest is shown, of two registries both', () => {
  const versions = ['1.0.0', '1.10.0', '1.9.0', '2.0.0-rc.1'].map((version) => result('a', { version }))
  const ranked = rankResults([...versions, result('a', { registry: 'two' })], 'a')
  expect(ranked.map(({ version, registry }) => `${version} ${registry}`)).toEqual(['2.0.0-rc.1 one', '1.0.0 two'])
})
