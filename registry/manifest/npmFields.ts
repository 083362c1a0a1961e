import { recordOf } from './record.ts'

/** What an npm package.json says that a manifest also says. */
export interface NpmFields {
  readonly name?: string
  readonly version?: string
  readonly description?: string
  readonly author?: string
  readonly license?: string
  readonly homepage?: string
  readonly keywords?: readonly string[]
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 4096) : undefined

/** The fields that are usable as they stand; the rest is left out, for npm is more lenient than a manifest. */
export function npmFields(packageJson: unknown): NpmFields {
  const { name, version, description, author, license, homepage, keywords } = recordOf(packageJson)
  const found = {
    name: textOf(name),
    version: textOf(version)?.replace(/^[v=\s]+/, ''),
    description: textOf(description),
    author: textOf(author) ?? textOf(recordOf(author).name),
    license: textOf(license) ?? textOf(recordOf(license).type),
    homepage: /^https?:\/\/\S+$/.exec(textOf(homepage) ?? '')?.[0],
  }
  const words = Array.isArray(keywords) ? keywords.flatMap((word: unknown) => textOf(word) ?? []) : []
  return {
    ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)),
    ...(words.length > 0 && { keywords: words }),
  }
}
