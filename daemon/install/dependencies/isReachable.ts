import type { HttpClient } from '../../../registry/fetch/http/httpExchange.ts'

/** A registry that has not answered by then is taken for one that is away, where a cache may do. */
const patienceMs = 5_000

/**
 * Whether anything answers at an address, whatever it says. Asked once before a package manager is let loose: those ask for each package, with retries, and
 * take minutes to see that nobody is there.
 */
export async function isReachable(client: HttpClient, url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await client.get({ url, signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]) })
    answer.body.destroy()
    return true
  } catch {
    // Why it is away does not matter: what is then missing says so itself.
    signal.throwIfAborted()
    return false
  }
}
