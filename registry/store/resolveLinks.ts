const mostHops = 40

/**
 * Which links of a tree do not stay within it: absolute ones, ones that leave it at any step of their resolution (through other links too), and loops.
 * A link to nothing is fine as long as nothing is inside the tree. Pure: `links` maps each link's path to its target.
 */
export function pickEscapingLinks(links: ReadonlyMap<string, string>): string[] {
  return [...links.keys()].filter((path) => !staysInside(path, links)).sort()
}

function staysInside(path: string, links: ReadonlyMap<string, string>): boolean {
  const pending = path.split('/').reverse()
  const at: string[] = []
  let hops = 0
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (at.pop() === undefined) return false
      continue
    }
    at.push(name)
    const target = links.get(at.join('/'))
    if (target === undefined) continue
    if (target.startsWith('/') || ++hops > mostHops) return false
    at.pop()
    pending.push(...target.split('/').reverse())
  }
  return true
}
