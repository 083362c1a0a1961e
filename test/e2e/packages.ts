import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Packages written for a test, in a folder of their own that is removed with it. */
export interface PackageFolder extends AsyncDisposable {
  readonly path: string
  /** Writes a package's manifest and files into `<path>/<id>`; answers its folder. */
  write(manifest: Record<string, unknown>, files?: Record<string, string>): Promise<string>
}

export async function createPackageFolder(): Promise<PackageFolder> {
  const path = await mkdtemp(join(tmpdir(), 'pkgd-packages-'))
  return {
    path,
    async write(manifest, files = {}) {
      const folder = join(path, String(manifest.id))
      for (const [name, content] of Object.entries({ 'package.json': JSON.stringify(manifest), ...files })) {
        await mkdir(dirname(join(folder, name)), { recursive: true })
        await writeFile(join(folder, name), content)
      }
      return folder
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

/** A manifest of a Node MCP server whose program is `server.mjs`. */
export const nodeServer = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  name: id,
  version: '1.0.0',
  type: 'mcp-server',
  mcp: { command: 'node', args: ['server.mjs'] },
  ...more,
})

/** A small MCP server over stdio with the tools `echo` and `pid`; `before` runs first, `onCall` may handle a call itself. */
export const serverProgram = ({ before = '', onCall = '' }: { before?: string; onCall?: string } = {}) => `
import { createInterface } from 'node:readline'
${before}
const tools = [
  { name: 'echo', inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'], additionalProperties: false } },
  { name: 'pid', inputSchema: { type: 'object' } },
]
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  if (method === 'initialize') {
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'test', version: '1.0.0' } })
  } else if (method === 'tools/list') answer(id, { tools })
  else if (method === 'tools/call') {
    ${onCall}
    answer(id, { content: [{ type: 'text', text: params.name === 'echo' ? params.arguments.message : String(globalThis.count = (globalThis.count ?? 0) + 1) }] })
  } else answer(id, {})
}
`
