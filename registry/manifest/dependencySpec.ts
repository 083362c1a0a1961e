import npa from 'npm-package-arg'
import { isPythonRange } from './pythonRange.ts'

/** Where a dependency's bits come from. An `option` is something for the installer itself, and `malformed` is nothing an installer reads. */
export type DependencySource = 'registry' | 'git' | 'url' | 'file' | 'option' | 'malformed'

// PEP 508: name, extras, version specifiers (in parentheses or bare), marker.
const requirement =
  /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[A-Za-z0-9._,\s-]*\])?\s*(?:\(([^()]*)\)|([^;@()]*))\s*(?:;(.*))?$/
const direct = /^[A-Za-z0-9][A-Za-z0-9._-]*\s*(?:\[[^\]]*\])?\s*@\s*(\S+)/

const sourceOfUrl = (url: string): DependencySource => (/^git[+:]/.test(url) ? 'git' : /^file:/i.test(url) ? 'file' : 'url')

/** What kind of pip requirement it is. Options after a requirement (`name --config-settings …`) count as options. */
export function classifyPypiRequirement(spec: string): DependencySource {
  const text = spec.trim()
  if (/[\u0000-\u001f]/.test(text) || text === '') return 'malformed'
  if (/^-/.test(text) || /\s--?[A-Za-z]/.test(text)) return 'option'
  const url = direct.exec(text)?.[1]
  if (url !== undefined) return sourceOfUrl(url)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || /^(git|hg|svn|bzr)\+/i.test(text)) return sourceOfUrl(text)
  if (/^(\.|\/|~|file:)/.test(text) || /[\\/]/.test(text) || /\.(whl|zip|tar\.gz|tgz|tar\.bz2)$/i.test(text)) return 'file'
  const match = requirement.exec(text)
  if (!match) return 'malformed'
  const range = (match[2] ?? match[3] ?? '').trim()
  const marker = match[4]
  if (marker !== undefined && !/[<>=]|\bin\b/.test(marker)) return 'malformed'
  if (marker !== undefined && !/^[\sA-Za-z0-9_.'"<>=!~()*,-]+$/.test(marker)) return 'malformed'
  return range === '' || isPythonRange(range) ? 'registry' : 'malformed'
}

/** What kind of npm spec it is. An alias counts as what it stands for. */
export function classifyNpmSpec(spec: string): DependencySource {
  const text = spec.trim()
  if (/[\u0000-\u001f]/.test(text) || text === '') return 'malformed'
  if (text.startsWith('-') || /\s--?[A-Za-z]/.test(text)) return 'option'
  if (/^(@[^/]+\/)?[^/@]+@(link|portal|workspace):/.test(text) || /^(link|portal|workspace):/.test(text)) return 'file'
  try {
    return sourceOfNpm(npa(text))
  } catch {
    // npm-package-arg throws for whatever is no spec; that is the answer here.
    return 'malformed'
  }
}

function sourceOfNpm(parsed: npa.Result): DependencySource {
  switch (parsed.type) {
    case 'version':
    case 'range':
    case 'tag':
      return parsed.name ? 'registry' : 'malformed'
    case 'alias':
      return sourceOfNpm((parsed as npa.AliasResult).subSpec)
    case 'git':
      return 'git'
    case 'remote':
      return 'url'
    case 'file':
    case 'directory':
      return 'file'
    default:
      return 'malformed'
  }
}
