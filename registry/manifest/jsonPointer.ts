/** An RFC 6901 pointer below `base`. */
export const pointerTo = (base: string, ...keys: readonly (string | number)[]): string =>
  base + keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
