import type { Api, ApiDeps } from '../api.ts'
import { PackageParams } from '../schemas/common.ts'
import { StatsQuery, StatsView } from '../schemas/packages.ts'
import { streamEvents } from '../streamEvents.ts'

const everyMs = 1000

export function registerStats(app: Api, { lifecycle, closing, clock, log }: ApiDeps): void {
  const read = async (id: string): Promise<StatsView> => ({ id, time: new Date(clock.now()).toISOString(), ...(await lifecycle.stats(id)) })

  async function* sample(id: string, signal: AbortSignal) {
    while (!signal.aborted) {
      yield await read(id)
      await new Promise<void>((resolve) => {
        const cancel = clock.after(everyMs, resolve)
        const stop = () => {
          cancel()
          resolve()
        }
        signal.addEventListener('abort', stop, { once: true })
      })
    }
  }

  const schema = {
    operationId: 'getStats',
    summary: 'What a running package uses; with follow=true as server-sent events',
    tags: ['packages'],
    params: PackageParams,
    querystring: StatsQuery,
    response: { 200: StatsView },
  }
  app.get('/v1/packages/:id/stats', { config: { streams: true }, schema }, async ({ params: { id }, query }, reply) => {
    if (!query.follow) return read(id)
    await streamEvents({ reply, open: (signal) => sample(id, signal), closing, clock, log })
    return reply
  })
}
