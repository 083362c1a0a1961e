import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Writes a package's folder: a manifest of a node server with what a test changes, and its files. */
export async function writePackage(
  directory: string,
  manifest: { readonly id: string; readonly version?: string } & Readonly<Record<string, unknown>>,
  files: Readonly<Record<string, string>> = { 'server.mjs': 'process.stdin.resume()\n' },
): Promise<string> {
  const whole = {
    name: manifest.id,
    version: '1.0.0',
    description: 'a package of a test',
    type: 'mcp-server',
    mcp: { command: 'node', args: ['server.mjs'] },
    ...manifest,
  }
  for (const [path, text] of Object.entries({ 'package.json': JSON.stringify(whole), ...files })) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  return directory
}
