import { fileURLToPath } from 'node:url'

export const fixture = (name: string): string => fileURLToPath(new URL(`../../../fixtures/manifests/${name}`, import.meta.url))

/** The smallest manifest that is valid. */
export const minimal = { id: 'tiny', name: 'Tiny', version: '1.0.0', type: 'mcp-server', mcp: { command: 'node', args: ['server.mjs'] } }
