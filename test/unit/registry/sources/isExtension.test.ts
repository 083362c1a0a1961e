import { expect, test } from 'vitest'
import { isExtension } from '../../../../registry/resolve/isExtension.ts'

test.each<[unknown, boolean]>([
  [{ name: 'a', pkgd: {} }, true],
  [{ name: 'a', mcpName: 'io.x/a' }, true],
  [{ name: 'a', keywords: ['weather', 'MCP-Server'] }, true],
  [{ name: '@modelcontextprotocol/server-time' }, true],
  [{ name: 'weather-mcp' }, true],
  [{ name: 'weather-tool', keywords: ['weather'] }, false],
  [{ name: 'mcpherson' }, false],
  [{ keywords: 'mcp' }, false],
  [null, false],
])('%o: %s', (packageJson, expected) => {
  expect(isExtension(packageJson)).toBe(expected)
})
