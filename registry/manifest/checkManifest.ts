import { checkEnvironmentName } from '../../daemon/core/environmentName.ts'
import type { Issue } from '../../daemon/core/errors.ts'
import { classifyNpmSpec, classifyPypiRequirement } from './dependencySpec.ts'
import { pointerTo } from './jsonPointer.ts'
import { recordOf, stringsOf, type UnknownRecord } from './record.ts'
import { ecosystemsOf, toEcosystem } from './splitDependencies.ts'

/** The rule of an issue that stands for AMBIGUOUS_ECOSYSTEM. */
export const ambiguousRule = 'ecosystem'

/** The rules that JSON Schema cannot say. They hold for whatever is well formed, so that they are reported along with the schema's own issues. */
export function checkManifest(manifest: UnknownRecord): Issue[] {
  return [
    ...checkTransport(recordOf(manifest.mcp)),
    ...checkSkills(recordOf(manifest.a2a).skills),
    ...checkMounts(recordOf(recordOf(manifest.sandbox).filesystem).mounts),
    ...checkConfig(recordOf(manifest.config)),
    ...checkPackages(manifest),
    ...checkExtensions(manifest),
    ...checkIdleTimeout(manifest),
  ]
}

/** The entry section that is there; a valid manifest has exactly one. */
const commandOf = (manifest: UnknownRecord): unknown =>
  recordOf(manifest.mcp).command ?? recordOf(manifest.a2a).command ?? recordOf(manifest.hook).command

function checkTransport(mcp: UnknownRecord): Issue[] {
  if (mcp.transport !== undefined && mcp.transport !== 'stdio') return []
  return ['port', 'path']
    .filter((key) => mcp[key] !== undefined)
    .map((key) => ({
      pointer: pointerTo('/mcp', key),
      message: `"${key}" has no meaning with the stdio transport`,
      rule: 'transport',
      fix: `remove "${key}", or set "transport" to "streamable-http"`,
    }))
}

function duplicates(names: readonly { readonly at: string; readonly name: string }[], what: string): Issue[] {
  const seen = new Set<string>()
  return names.flatMap(({ at, name }) => {
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    return [{ pointer: at, message: `the ${what} "${name}" is there twice`, rule: 'unique', fix: `keep one ${what} of each` }]
  })
}

function checkSkills(skills: unknown): Issue[] {
  const list: readonly unknown[] = Array.isArray(skills) ? skills : []
  const names = list.flatMap((skill, index) => {
    const name = typeof skill === 'string' ? skill : recordOf(skill).id
    return typeof name === 'string' ? [{ at: pointerTo('/a2a/skills', index), name }] : []
  })
  return duplicates(names, 'skill')
}

function checkMounts(mounts: unknown): Issue[] {
  const list: readonly unknown[] = Array.isArray(mounts) ? mounts : []
  const named = (key: string) =>
    list.flatMap((mount, index) => {
      const name = recordOf(mount)[key]
      return typeof name === 'string' ? [{ at: pointerTo('/sandbox/filesystem/mounts', index, key), name }] : []
    })
  return [...duplicates(named('name'), 'mount'), ...duplicates(named('target'), 'mount target')]
}

function checkConfig(config: UnknownRecord): Issue[] {
  const entries = Object.entries(config).map(([key, value]) => ({ key, entry: recordOf(value) }))
  const types = entries.flatMap(({ key, entry }) => {
    const type = entry.type ?? 'string'
    if (entry.default === undefined || typeof entry.default === type || !['string', 'number', 'boolean'].includes(String(type))) return []
    return [
      {
        pointer: pointerTo('/config', key, 'default'),
        message: `the default is a ${typeof entry.default}, the entry's type is ${String(type)}`,
        rule: 'type',
        fix: `write a ${String(type)}, or change "type"`,
      },
    ]
  })
  const names = entries.map(({ key, entry }) => ({
    at: pointerTo('/config', key),
    name: typeof entry.env === 'string' ? entry.env : toEnvironmentName(key),
  }))
  return [...types, ...entries.flatMap(checkDerivedName), ...duplicates(names, 'environment variable')]
}

/** The name that an entry gives itself is the schema's to check; this is one made of its key. */
function checkDerivedName({ key, entry }: { readonly key: string; readonly entry: UnknownRecord }): Issue[] {
  if (entry.env !== undefined) return []
  const name = toEnvironmentName(key)
  const wrong = checkEnvironmentName(name)
  if (!wrong) return []
  const message = `its variable would be ${name}, which ${wrong}`
  return [{ pointer: pointerTo('/config', key), message, rule: 'environment-name', fix: 'name another with "env"' }]
}

/** The environment variable of a config entry that names none: `api.base-url` is `API_BASE_URL`. */
export const toEnvironmentName = (key: string): string => key.toUpperCase().replace(/[^A-Z0-9]/g, '_')

function checkPackages(manifest: UnknownRecord): Issue[] {
  const dependencies = recordOf(manifest.dependencies)
  const declared = ecosystemsOf(commandOf(manifest), dependencies)
  return stringsOf(dependencies.packages).flatMap(({ index, text }): Issue[] => {
    const pointer = pointerTo('/dependencies/packages', index)
    const found = toEcosystem(text, declared)
    if (!found) {
      const why = declared.python ? 'both Python and Node are named' : 'neither Python nor Node is named'
      return [
        {
          pointer,
          message: `whether "${text}" comes from PyPI or npm is not said: ${why}`,
          rule: ambiguousRule,
          fix: `write "pypi:${text}" or "npm:${text}"`,
        },
      ]
    }
    const source = found.ecosystem === 'pypi' ? classifyPypiRequirement(found.spec) : classifyNpmSpec(found.spec)
    if (source !== 'malformed') return []
    const example = found.ecosystem === 'pypi' ? 'a pip requirement such as "httpx>=0.25.0"' : 'an npm spec such as "zod@^4"'
    return [{ pointer, message: `"${text}" cannot be read as ${example}`, rule: 'requirement', fix: `write ${example}` }]
  })
}

function checkExtensions(manifest: UnknownRecord): Issue[] {
  const { extensions } = recordOf(manifest.dependencies)
  if (typeof manifest.id !== 'string' || !Object.hasOwn(recordOf(extensions), manifest.id)) return []
  return [
    {
      pointer: pointerTo('/dependencies/extensions', manifest.id),
      message: 'a package cannot depend on itself',
      rule: 'self',
      fix: `remove "${manifest.id}"`,
    },
  ]
}

function checkIdleTimeout(manifest: UnknownRecord): Issue[] {
  if (manifest.idle_timeout === undefined || manifest.start === 'on-demand') return []
  return [
    {
      pointer: '/idle_timeout',
      message: '"idle_timeout" has no meaning for a package that starts eagerly',
      rule: 'start',
      fix: 'set "start" to "on-demand", or remove it',
    },
  ]
}
