/** Whether an event type matches: `*` stands for any run of characters, dots included, so `package.*` and `*` are what they look like. */
export function createEventMatcher(glob: string): (type: string) => boolean {
  if (glob === '*') return () => true
  const parts = glob.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  const pattern = new RegExp(`^${parts.join('.*')}$`)
  return (type) => pattern.test(type)
}
