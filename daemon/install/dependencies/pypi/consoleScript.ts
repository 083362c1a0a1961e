import { PkgdError } from '../../../core/errors.ts'

/** The `[console_scripts]` of an entry_points.txt: script name to `module:attribute`. */
export function parseEntryPoints(text: string): Record<string, string> {
  const scripts: Record<string, string> = {}
  let section = ''
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[(.+)\]\s*$/.exec(line)?.[1]
    if (header !== undefined) section = header.trim()
    else if (section === 'console_scripts') {
      const [, name, point] = /^\s*([^=\s#;][^=]*?)\s*=\s*([^\s[]+)/.exec(line) ?? []
      if (name !== undefined && point !== undefined) scripts[name] = point
    }
  }
  return scripts
}

/**
 * What starts a console script: its own few lines, without pip's launcher, whose first line would name a path of the build sandbox. Only dotted names
 * become code.
 */
export function toRunPy(script: { readonly name: string; readonly entryPoint: string }): string {
  const [, module, attribute] = /^([\p{L}_][\p{L}\p{N}_.]*):([\p{L}_][\p{L}\p{N}_.]*)$/u.exec(script.entryPoint) ?? []
  if (module === undefined || attribute === undefined) {
    throw new PkgdError(
      'MANIFEST_MISSING',
      `The console script ${script.name} has the entry point "${script.entryPoint}", which is not module:function`,
    )
  }
  return [
    'import site',
    'import sys',
    '',
    "site.addsitedir('/app/.pkgd/python')",
    `sys.argv[0] = ${JSON.stringify(script.name)}`,
    '',
    "if __name__ == '__main__':",
    `    from ${module} import ${attribute.split('.')[0]}`,
    '',
    `    sys.exit(${attribute}())`,
    '',
  ].join('\n')
}
