import { PkgdError } from '../../../core/errors.ts'

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
