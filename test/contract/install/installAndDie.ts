import { jobContext, openParts, requestOf } from './openParts.ts'

/**
 * A daemon that installs and is killed with SIGKILL at the nth durable write of its journal, before or after the write: `node installAndDie.ts <home> <spec> <n>
 * <before|after>`. It exits with 0 when the install ended before that.
 */
const [home = '', spec = '', nth = '1', when = 'before'] = process.argv.slice(2)
const parts = await openParts(home)
let writes = 0
const dying =
  <A extends unknown[], R>(write: (...args: A) => R) =>
  (...args: A): R => {
    writes += 1
    if (writes === Number(nth) && when === 'before') process.kill(process.pid, 'SIGKILL')
    const result = write(...args)
    if (writes === Number(nth)) process.kill(process.pid, 'SIGKILL')
    return result
  }
Object.assign(parts.state.sagas, { put: dying(parts.state.sagas.put), remove: dying(parts.state.sagas.remove) })
await parts.installer.install(requestOf(spec, { consent: true }), jobContext())
await parts[Symbol.asyncDispose]()
process.exit(0)
