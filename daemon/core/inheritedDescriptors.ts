import { closeSync, readdirSync, readFileSync } from 'node:fs'
import { hasCode } from './errors.ts'

/** O_CLOEXEC in the octal digits of /proc/<pid>/fdinfo; Node opens nothing without it. */
const closeOnExec = 0o2000000

/**
 * Closes what this process was started with besides stdin, stdout, stderr and `kept`: files that its parent, a shell perhaps, had open. Node hands descriptors it
 * does not know on to every process that it starts, a package's included. To be called once, before anything else is opened or started.
 */
export function closeInheritedDescriptors(kept: readonly number[] = []): void {
  // Where /proc is not, packages run on an engine in a machine of its own.
  if (process.platform !== 'linux') return
  for (const descriptor of listInheritable()) if (!kept.includes(descriptor)) closeSync(descriptor)
}

/** Descriptors above stderr that a child of this process would have as well. */
export function listInheritable(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInheritable(descriptor))
}

function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch (error) {
    // The listing's own descriptor is closed by now.
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
