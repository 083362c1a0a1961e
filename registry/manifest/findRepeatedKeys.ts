import type { Issue } from '../../daemon/core/errors.ts'
import { pointerTo } from './jsonPointer.ts'

interface Frame {
  readonly kind: 'object' | 'array'
  /** Of an object, so far. */
  readonly keys: Set<string>
  /** The key or index that is being read. */
  at: string | number
  /** Whether the next string is a key. */
  expectsKey: boolean
}

/**
 * Keys that stand twice in one object: JSON.parse takes the last and says nothing. The text is JSON that can be parsed, without comments. Pointers are those of the repeated keys.
 */
export function findRepeatedKeys(json: string): Issue[] {
  const issues: Issue[] = []
  const stack: Frame[] = []
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
    const top = stack.at(-1)
    if (token === '{' || token === '[') {
      stack.push({ kind: token === '{' ? 'object' : 'array', keys: new Set(), at: 0, expectsKey: token === '{' })
    } else if (token === '}' || token === ']') {
      stack.pop()
    } else if (token === ',') {
      if (top?.kind === 'object') top.expectsKey = true
      else if (typeof top?.at === 'number') top.at += 1
    } else if (top?.expectsKey) {
      const key = String(JSON.parse(token))
      top.expectsKey = false
      top.at = key
      if (top.keys.has(key)) {
        const pointer = pointerTo('', ...stack.map(({ at }) => at))
        issues.push({ pointer, message: `the key "${key}" is there twice`, rule: 'unique', fix: 'keep one of the two' })
      }
      top.keys.add(key)
    }
  }
  return issues
}
