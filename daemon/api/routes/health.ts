import type { Api, ApiDeps } from '../api.ts'
import { Health } from '../schemas/info.ts'

/** Liveness: says nothing of packages, needs no token. */
export function registerHealth(app: Api, { version }: ApiDeps): void {
  app.get(
    '/health',
    { config: { public: true }, schema: { operationId: 'getHealth', summary: 'Liveness', tags: ['daemon'], response: { 200: Health } } },
    () => ({
      status: 'ok' as const,
      version,
    }),
  )
}
