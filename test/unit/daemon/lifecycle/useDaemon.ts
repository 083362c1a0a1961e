import { afterEach, beforeEach } from 'vitest'
import { type Bench, createBench, type Daemon } from './bench.ts'

/** A daemon that was opened before each test, and the words in which these tests speak of it. */
export function useDaemon() {
  let bench: Bench
  let daemon: Daemon
  const context = { signal: new AbortController().signal, progress: () => undefined }

  beforeEach(async () => {
    bench = createBench()
    daemon = bench.boot()
    await daemon.lifecycle.open()
  })
  afterEach(async () => {
    await bench[Symbol.asyncDispose]()
  })

  return {
    get bench() {
      return bench
    },
    get daemon() {
      return daemon
    },
    set daemon(other: Daemon) {
      daemon = other
    },
    context,
    never: new AbortController().signal,
    install(id: string, options?: Parameters<Bench['install']>[1]) {
      bench.install(id, options)
      daemon.lifecycle.added(id)
    },
    start: (id: string) => daemon.lifecycle.start(id, context),
    stop: (id: string) => daemon.lifecycle.stop(id, context),
    status: (id: string) => daemon.lifecycle.get(id).status,
    session(id: string) {
      const found = daemon.host.sessions.get(id)
      if (!found) throw new Error(`${id} has no session`)
      return found
    },
    crash: (id: string) => bench.engine.kill(bench.running(id)[0] ?? ''),
    /** The states that a package went through, as told on the bus. */
    told: (id: string) =>
      bench.events
        .filter((event) => event.type === 'package.state' && event.subject === id)
        .map((event) => (event.data as { readonly to: string }).to),
  }
}
