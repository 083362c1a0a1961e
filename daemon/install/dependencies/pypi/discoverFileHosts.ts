import type { Logger } from '../../../core/ports.ts'
import { listFileOrigins, needsDiscovery, toProjectPage } from './indexReach.ts'
import type { PipConfig } from './pipConfig.ts'

/** Asks each index whose file host is not known for the page of one of the requirements. An index that does not answer adds nothing: pip will say so itself. */
export async function discoverFileHosts(
  deps: { readonly logger: Logger; readonly fetch: typeof fetch },
  config: PipConfig,
  requirements: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  if (config.proxy) return []
  const first = requirements[0]
  const origins: string[] = []
  for (const index of [config.indexUrl, ...config.extraIndexUrls].filter(needsDiscovery)) {
    const page = first && toProjectPage(index, first)
    if (!page) continue
    try {
      const { url, headers } = withoutCredentials(page)
      const answer = await deps.fetch(url, {
        headers: { accept: 'application/vnd.pypi.simple.v1+json, text/html;q=0.5', ...headers },
        signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
      })
      if (answer.ok) origins.push(...listFileOrigins(await answer.text(), answer.headers.get('content-type') ?? '', answer.url))
    } catch (error) {
      signal.throwIfAborted()
      deps.logger.warn('An index did not say where its files are', {
        index: new URL(index).host,
        reason: error instanceof Error ? error.message : String(error),
      })
    }
  }
  return [...new Set(origins)]
}

/** fetch takes no credentials in a URL. */
function withoutCredentials(text: string): { url: string; headers: Record<string, string> } {
  const url = new URL(text)
  if (!url.username) return { url: text, headers: {} }
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  return { url: url.href, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } }
}
