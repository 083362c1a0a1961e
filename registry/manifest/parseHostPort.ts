/** A JSON Schema pattern of an allow-list entry: `api.example.com:443`, `10.0.0.1:53`, `[2001:db8::1]:443`. */
export const hostPortPattern = '^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\]):[1-9]\\d{0,4}$'

/** Name (lower case, brackets removed) and port of `host:port`. Undefined when it is none. */
export function parseHostPort(text: string): { readonly host: string; readonly port: number } | undefined {
  if (!new RegExp(hostPortPattern).test(text)) return undefined
  const colon = text.lastIndexOf(':')
  const port = Number(text.slice(colon + 1))
  if (port > 65_535) return undefined
  return {
    host: text
      .slice(0, colon)
      .replace(/^\[|\]$/g, '')
      .toLowerCase(),
    port,
  }
}
