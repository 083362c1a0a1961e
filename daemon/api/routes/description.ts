import type { Api, ApiDeps } from '../api.ts'
import { docsPage } from '../docsPage.ts'

/** `/openapi.json` and the page that shows it. */
export function registerDescription(app: Api, deps: ApiDeps): void {
  let document: Promise<object> | undefined
  app.get('/openapi.json', { config: { public: true } }, () => {
    document ??= import('../describeApi.ts').then(({ describeApi }) => describeApi(deps))
    return document
  })
  app.get('/docs', { config: { public: true } }, (_, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'")
      .send(docsPage),
  )
}
