/** Settings as npm names them: `registry`, `@scope:registry`, `//host/:_authToken`, `cafile`, … A key that comes as `key[]` is a list. */
export type NpmSettings = Readonly<Record<string, string | readonly string[]>>

/** The settings in an npmrc file (ini without sections), `${NAME}` filled in from the environment; a name that is not set stays as it stands, `${NAME?}` becomes nothing. */
export function parseNpmrc(text: string, env: Readonly<Record<string, string | undefined>>): NpmSettings {
  const settings: Record<string, string | string[]> = {}
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const [, key, value = 'true'] = /^\s*([^#;[\s=][^=]*?)\s*(?:=\s*(.*?)\s*)?$/.exec(line) ?? []
    if (key === undefined) continue
    const plain = fillIn(unquote(value), env)
    const name = fillIn(key, env)
    if (!name.endsWith('[]')) settings[name] = plain
    else {
      const list = name.slice(0, -2)
      const before = settings[list]
      settings[list] = [...(Array.isArray(before) ? before : []), plain]
    }
  }
  return settings
}

/** The settings in the environment: `npm_config_<key>`, in either case, `_` for `-` except in keys that name a registry. */
export function parseNpmEnv(env: Readonly<Record<string, string | undefined>>): NpmSettings {
  const settings: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    const key = /^npm_config_(?!_)(.+)$/i.exec(name)?.[1]
    if (key === undefined || !value) continue
    settings[/^(\/\/|@)/.test(key) ? key : key.toLowerCase().replaceAll('_', '-')] = fillIn(value, env)
  }
  return settings
}

function unquote(value: string): string {
  const quoted = /^"(.*)"$/.exec(value)?.[1] ?? /^'(.*)'$/.exec(value)?.[1]
  if (quoted !== undefined) return quoted.replaceAll('\\n', '\n')
  return value.replace(/\s+[;#].*$/, '')
}

function fillIn(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/(\\*)\$\{([^}?]+)(\?)?\}/g, (whole, escapes: string, name: string, optional?: string) => {
    if (escapes.length % 2 === 1) return whole.slice(1)
    return `${escapes}${env[name] ?? (optional ? '' : `\${${name}}`)}`
  })
}
