/** What of the host's pip configuration counts inside the build sandbox. */
export interface PipConfig {
  readonly indexUrl: string
  readonly extraIndexUrls: readonly string[]
  /** Path of a CA bundle on the host, or null for pip's own. */
  readonly cert: string | null
  readonly proxy: string | null
  readonly trustedHosts: readonly string[]
  /** Seconds. */
  readonly timeout: number
}

/** pip's own default. */
const defaultIndex = 'https://pypi.org/simple'

type Settings = Readonly<Record<string, string>>

/** The `[global]`, `[install]` and `[download]` settings of a pip configuration file, later sections over earlier ones. */
export function parsePipFile(text: string): Settings {
  const settings: Record<string, Record<string, string>> = {}
  let section = ''
  let last: string | undefined
  for (const line of text.split(/\r?\n/)) {
    const header = /^\[(.+)\]\s*$/.exec(line)?.[1]
    if (header !== undefined) {
      section = header.trim().toLowerCase()
      last = undefined
    } else if (/^\s+\S/.test(line) && last !== undefined) {
      const into = settings[section]
      if (into) into[last] = `${into[last] ?? ''} ${line.trim()}`.trim()
    } else if (!/^\s*([#;]|$)/.test(line)) {
      const [, key, value] = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(line) ?? []
      if (key === undefined || value === undefined) continue
      last = key.toLowerCase().replaceAll('_', '-')
      settings[section] = { ...settings[section], [last]: value.trim() }
    }
  }
  return { ...settings.global, ...settings.download, ...settings.install }
}

/** pip's configuration from its files, the weakest first, and the environment, which goes before all of them. */
export function toPipConfig(files: readonly Settings[], env: Readonly<Record<string, string | undefined>>): PipConfig {
  const fromEnv = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith('PIP_') && value ? [[name.slice(4).toLowerCase().replaceAll('_', '-'), value] as const] : [],
    ),
  )
  const settings: Settings = Object.assign({}, ...files, fromEnv)
  const words = (key: string) => (settings[key] ?? '').split(/\s+/).filter((word) => word !== '')
  const timeout = Number(settings['default-timeout'] ?? settings.timeout)
  return {
    indexUrl: settings['index-url'] ?? defaultIndex,
    extraIndexUrls: words('extra-index-url'),
    cert: settings.cert ?? env.REQUESTS_CA_BUNDLE ?? env.SSL_CERT_FILE ?? env.CURL_CA_BUNDLE ?? null,
    proxy: settings.proxy ?? env.HTTPS_PROXY ?? env.https_proxy ?? env.ALL_PROXY ?? env.all_proxy ?? null,
    trustedHosts: words('trusted-host'),
    timeout: Number.isFinite(timeout) && timeout > 0 ? Math.min(timeout, 60) : 15,
  }
}

/** The configuration file that pip reads inside the build sandbox: the host's choices, with credentials in a file rather than in argv or env. */
export function toPipFile(config: PipConfig, inside: { readonly cert: string | null }): string {
  const lines = ['[global]', `index-url = ${config.indexUrl}`]
  if (config.extraIndexUrls.length > 0) lines.push('extra-index-url =', ...config.extraIndexUrls.map((url) => `    ${url}`))
  if (config.trustedHosts.length > 0) lines.push('trusted-host =', ...config.trustedHosts.map((host) => `    ${host}`))
  if (inside.cert) lines.push(`cert = ${inside.cert}`)
  if (config.proxy) lines.push(`proxy = ${config.proxy}`)
  lines.push(`timeout = ${config.timeout}`, 'retries = 2', 'no-input = true', 'disable-pip-version-check = true', 'progress-bar = off')
  return `${lines.join('\n')}\n`
}
