import type { Api, ApiDeps } from '../api.ts'
import { Info } from '../schemas/info.ts'

export function registerInfo(app: Api, { info }: ApiDeps): void {
  const schema = {
    operationId: 'getInfo',
    summary: 'Versions, driver and its capabilities, counts',
    tags: ['daemon'],
    response: { 200: Info },
  }
  app.get('/v1/info', { schema }, () => info())
}
