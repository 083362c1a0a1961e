import { recordOf } from '../manifest/record.ts'

const words = new Set([
  'mcp',
  'mcp-server',
  'mcp-servers',
  'mcpserver',
  'modelcontextprotocol',
  'model-context-protocol',
  'a2a-agent',
  'pkgd',
])

/** Whether an npm package is meant as an extension, by what its author says of it: our key, a server name, keywords, or the package's name. */
export function isExtension(packageJson: unknown): boolean {
  const { name, keywords, pkgd, mcpName } = recordOf(packageJson)
  if (pkgd !== undefined || typeof mcpName === 'string') return true
  if (Array.isArray(keywords) && keywords.some((word) => words.has(String(word).toLowerCase()))) return true
  return typeof name === 'string' && /(^|[-/_@.])(mcp|modelcontextprotocol|pkgd)([-/_.]|$)/.test(name)
}
