/** Whether one hash (`sha256-…`) is among those of an SRI string that have its algorithm. With none of its algorithm nothing can be said, and it passes. */
export function satisfiesIntegrity(hash: string, integrity: string): boolean {
  const algorithm = hash.split('-', 1)[0]
  const comparable = integrity.split(/\s+/).filter((one) => one.startsWith(`${algorithm}-`))
  return comparable.length === 0 || comparable.includes(hash)
}
