import { PkgdError } from '../../../daemon/core/errors.ts'
import { readZip } from '../../store/readZip.ts'

/** What a wheel says of itself, without name and version. */
export interface Distribution {
  readonly summary?: string
  readonly requiresPython?: string
  readonly consoleScripts: Readonly<Record<string, string>>
}

const largestFile = 4 * 1024 * 1024

/** Reads METADATA and entry_points.txt of a wheel. Errors: ARCHIVE_DAMAGED, ARCHIVE_TOO_LARGE, ARCHIVE_UNSAFE. */
export async function readDistribution(file: string, name: string): Promise<Distribution> {
  const found = await readZip(file, (path) => /^[^/]+\.dist-info\/(METADATA|entry_points\.txt)$/.test(path), largestFile)
  const textOf = (suffix: string) => [...found].find(([path]) => path.endsWith(suffix))?.[1]
  const metadata = textOf('/METADATA')
  if (metadata === undefined) throw new PkgdError('ARCHIVE_DAMAGED', `${name} is no wheel: it has no METADATA`)
  const headers = parseHeaders(metadata)
  const { summary, 'requires-python': requiresPython } = headers
  return {
    ...(summary !== undefined && { summary }),
    ...(requiresPython !== undefined && { requiresPython }),
    consoleScripts: parseConsoleScripts(textOf('/entry_points.txt') ?? ''),
  }
}

/** The headers before the first empty line, names in lower case, continued lines joined; the first of a name counts. */
function parseHeaders(text: string): Readonly<Record<string, string>> {
  const head = text.split(/\r?\n\r?\n/, 1)[0] ?? ''
  const headers: Record<string, string> = {}
  for (const line of head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const [, name, value] = /^([A-Za-z0-9-]+):\s*(.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) headers[name.toLowerCase()] ??= value.trim()
  }
  return headers
}

/** The `[console_scripts]` of an entry_points.txt: script to `module:function`, extras dropped. */
export function parseConsoleScripts(text: string): Readonly<Record<string, string>> {
  const scripts: Record<string, string> = {}
  let section = ''
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[([^\]]+)\]\s*$/.exec(line)?.[1]
    if (header !== undefined) section = header.trim()
    else if (section === 'console_scripts' && !/^\s*[#;]/.test(line)) {
      const [, name, entryPoint] = /^\s*([^=]+?)\s*=\s*([\w.]+\s*:\s*[\w.]+)\s*(?:\[[^\]]*\])?\s*$/.exec(line) ?? []
      if (name !== undefined && entryPoint !== undefined) scripts[name] = entryPoint.replaceAll(/\s/g, '')
    }
  }
  return scripts
}
