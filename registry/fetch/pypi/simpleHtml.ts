import type { IndexFile } from './indexFile.ts'
import { toIntegrity } from './indexFile.ts'

/** The files on an index's HTML page (PEP 503), for indexes that do not speak JSON. */
export function parseSimpleHtml(page: string, pageUrl: string): IndexFile[] {
  return [...page.matchAll(/<a\s([^>]*)>([^<]*)<\/a\s*>/gi)].flatMap(([, attributes = '', text = '']) => {
    const href = readAttribute(attributes, 'href')
    if (href === undefined || !URL.canParse(href, pageUrl)) return []
    const url = new URL(href, pageUrl)
    const [, algorithm = '', hex] = /^#(sha\d+)=([0-9a-f]+)$/i.exec(url.hash) ?? []
    url.hash = ''
    return [
      {
        filename: decodeEntities(text).trim(),
        url: url.href,
        integrity: toIntegrity({ [algorithm.toLowerCase()]: hex }),
        requiresPython: readAttribute(attributes, 'data-requires-python') ?? null,
        yanked: /(^|\s)data-yanked(\s|=|$)/i.test(attributes),
      },
    ]
  })
}

function readAttribute(attributes: string, name: string): string | undefined {
  const [, double, single] = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(attributes) ?? []
  const value = double ?? single
  return value === undefined ? undefined : decodeEntities(value)
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'", '#x27': "'" }

const decodeEntities = (text: string): string => text.replace(/&(#?\w+);/g, (whole, name: string) => entities[name.toLowerCase()] ?? whole)
