type Variables = Readonly<Record<string, string | undefined>>

/** `$${` stands for `${`. */
const reference = /\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** Puts variables in place of `${NAME}` and `${NAME:-default}`; the default stands for one that is unset or empty. `missing` names those with neither. */
export function interpolate(text: string, variables: Variables): { readonly text: string; readonly missing: readonly string[] } {
  const missing: string[] = []
  const replaced = text.replaceAll(reference, (_, escaped: string | undefined, name: string, fallback: string | undefined) => {
    if (escaped !== undefined) return escaped
    const value = variables[name]
    if (fallback !== undefined) return value || fallback
    if (value === undefined) missing.push(name)
    return value ?? ''
  })
  return { text: replaced, missing }
}
