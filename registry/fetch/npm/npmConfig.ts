import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../../daemon/core/errors.ts'
import type { NetworkOptions } from '../http/httpExchange.ts'
import { type NpmSettings, parseNpmEnv, parseNpmrc } from './parseNpmrc.ts'

/** What of the user's npm configuration concerns where packages come from. It may hold tokens: never log it. */
export interface NpmConfig {
  /** With a `/` at its end. */
  readonly registry: string
  /** `@scope` to registry. */
  readonly scopes: Readonly<Record<string, string>>
  readonly settings: NpmSettings
  readonly network: NetworkOptions
}

const publicRegistry = 'https://registry.npmjs.org/'

type Env = Readonly<Record<string, string | undefined>>

/** The user's npm configuration: machine, user (`~/.npmrc`), environment, the later before the earlier. A project's own .npmrc is never read: whoever wrote the project wrote it. */
export async function readNpmConfig(env: Env = process.env): Promise<NpmConfig> {
  const fromEnv = parseNpmEnv(env)
  const machine = asText(fromEnv.globalconfig)
  const user = asText(fromEnv.userconfig) ?? join(env.HOME ?? homedir(), '.npmrc')
  const paths = [...(machine ? [machine] : ['/usr/etc/npmrc', '/usr/local/etc/npmrc', '/etc/npmrc']), user]
  const files: NpmSettings[] = []
  for (const path of paths) files.push(parseNpmrc(await readIfThere(path), env))
  return toNpmConfig(Object.assign({}, ...files, fromEnv))
}

/** Settings as a configuration. */
export function toNpmConfig(settings: NpmSettings): NpmConfig {
  const scopes = Object.entries(settings).flatMap(([key, value]) => {
    const scope = /^(@[^/:]+):registry$/.exec(key)?.[1]
    return scope && typeof value === 'string' ? [[scope, withSlash(value)] as const] : []
  })
  const ca = settings.ca === undefined || settings.ca === 'null' ? [] : [settings.ca].flat()
  return {
    registry: withSlash(asText(settings.registry) ?? publicRegistry),
    scopes: Object.fromEntries(scopes),
    settings,
    network: {
      caFile: asText(settings.cafile) ?? null,
      ca,
      proxy: asText(settings['https-proxy']) ?? asText(settings.proxy) ?? null,
      noProxy: asText(settings.noproxy) ?? null,
      trustAnyCertificate: settings['strict-ssl'] === 'false',
    },
  }
}

/** The registry that a package's name belongs to. */
export function pickNpmRegistry(config: NpmConfig, name: string): string {
  const scope = name.startsWith('@') ? name.split('/')[0] : undefined
  return (scope && config.scopes[scope]) || config.registry
}

/** Whether npm itself takes a package of that name from that registry. */
export const isNpmRegistryOf = (config: NpmConfig, name: string, registry: string): boolean =>
  pickNpmRegistry(config, name) === withSlash(registry)

/** The `authorization` for an address, from the settings of the nearest registry above it; undefined where there is none. */
export function pickNpmAuthorization(config: NpmConfig, url: string): string | undefined {
  const { host, pathname } = new URL(url)
  const segments = pathname.split('/').slice(0, -1)
  for (let depth = segments.length; depth > 0; depth--) {
    const at = `//${host}${segments.slice(0, depth).join('/')}/:`
    const setting = (key: string) => asText(config.settings[`${at}${key}`])
    const token = setting('_authToken')
    if (token) return `Bearer ${token}`
    const basic = setting('_auth')
    if (basic) return `Basic ${basic}`
    const password = setting('_password')
    const name = setting('username')
    if (name && password) return `Basic ${Buffer.from(`${name}:${Buffer.from(password, 'base64').toString('utf8')}`).toString('base64')}`
  }
  return undefined
}

/** The same for npm's own libraries (pacote, arborist), in the options that they take. Certificates are read here. */
export async function toNpmOptions(config: NpmConfig): Promise<Record<string, unknown>> {
  const { caFile, ca = [], proxy, noProxy, trustAnyCertificate } = config.network
  const bundle = caFile ? splitBundle(await readFile(caFile, 'utf8')) : []
  const certificates = [...ca, ...bundle]
  const scopes = Object.entries(config.scopes).map(([scope, registry]) => [`${scope}:registry`, registry])
  const credentials = Object.entries(config.settings).filter(([key]) => key.startsWith('//'))
  return {
    registry: config.registry,
    ...Object.fromEntries([...scopes, ...credentials]),
    strictSSL: !trustAnyCertificate,
    ...(certificates.length > 0 && { ca: certificates }),
    ...(proxy && { httpsProxy: proxy, proxy }),
    ...(noProxy && { noProxy }),
    fetchRetries: 2,
    fetchRetryMintimeout: 500,
    fetchRetryMaxtimeout: 4000,
  }
}

const asText = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' && value !== '' && value !== 'null' ? value : undefined

/** A registry's address with the `/` at its end that makes names relative to it. */
export const withSlash = (url: string): string => (url.endsWith('/') ? url : `${url}/`)

const splitBundle = (bundle: string): string[] => bundle.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR') || hasCode(error, 'EACCES')) return ''
    throw error
  }
}
