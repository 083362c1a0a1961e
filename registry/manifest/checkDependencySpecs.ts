import { type Issue, PkgdError } from '../../daemon/core/errors.ts'
import { classifyNpmSpec, classifyPypiRequirement, type DependencySource } from './dependencySpec.ts'
import type { Manifest } from './manifest.ts'

const reasons: Record<Exclude<DependencySource, 'registry'>, string> = {
  git: 'comes from a git repository',
  url: 'comes from an address',
  file: 'comes from a file',
  option: 'holds an option for the installer',
  malformed: 'cannot be read',
}

/**
 * Refuses dependencies that do not come from a registry, as DEPENDENCY_SOURCE with every one of them. `allowSources` (`git`, `url`, `file`) are the
 * operator's `install.allow_sources`; installer options are never allowed.
 */
export function checkDependencySpecs(manifest: Manifest, allowSources: readonly string[]): void {
  const check = (specs: readonly string[], ecosystem: string, classify: (spec: string) => DependencySource): Issue[] =>
    specs.flatMap((spec) => {
      const source = classify(spec)
      if (source === 'registry' || (source !== 'option' && source !== 'malformed' && allowSources.includes(source))) return []
      const allowable = source === 'git' || source === 'url' || source === 'file'
      return [
        {
          pointer: '/dependencies/packages',
          message: `"${spec}" (${ecosystem}) ${reasons[source]}`,
          rule: `source:${source}`,
          fix: allowable
            ? `name a version from the registry, or add "${source}" to install.allow_sources in pkgd.yaml`
            : 'write a name and a version range',
        },
      ]
    })
  const { pypi, npm } = manifest.dependencies
  const issues = [...check(pypi, 'PyPI', classifyPypiRequirement), ...check(npm, 'npm', classifyNpmSpec)]
  const [first] = issues
  if (!first) return
  throw new PkgdError('DEPENDENCY_SOURCE', `${manifest.id}: the dependency ${issues.map((issue) => issue.message).join('; ')}`, {
    issues,
    ...(first.fix !== undefined && { hint: first.fix }),
  })
}
