import { text } from 'node:stream/consumers'
import type { HttpClient } from '../../../../registry/fetch/http/httpClient.ts'
import type { Logger } from '../../../core/ports.ts'
import { listFileOrigins, needsDiscovery, toProjectPage } from './indexReach.ts'
import type { PipConfig } from './pipConfig.ts'

/** Asks each index whose file host is not known for the page of one of the requirements. An index that does not answer adds nothing: pip will say so itself. */
export async function discoverFileHosts(
  deps: { readonly logger: Logger; readonly client: HttpClient },
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
      const answer = await deps.client.get({
        url,
        headers: { accept: 'application/vnd.pypi.simple.v1+json, text/html;q=0.5', ...headers },
        signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
      })
      const body = await text(answer.body)
      if (answer.status === 200) origins.push(...listFileOrigins(body, answer.headers['content-type'] ?? '', answer.url))
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

/** Credentials in a URL, as pip takes them, as a header. */
function withoutCredentials(text: string): { url: string; headers: Record<string, string> } {
  const url = new URL(text)
  if (!url.username) return { url: text, headers: {} }
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  return { url: url.href, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } }
}
