import fastify from 'fastify'
import { isPackageFault, PkgdError } from '../core/errors.ts'
import type { Api, ApiDeps } from './api.ts'
import { checkHost, createTokenCheck } from './guard.ts'
import { registerRoutes } from './registerRoutes.ts'
import { registerDescription } from './routes/description.ts'
import { toProblem } from './toProblem.ts'
import { toRequestError } from './toRequestError.ts'
import { createValidatorCompiler } from './validators.ts'

/** In the place of fastify's own compilers, so that those are not loaded: the API's are set right away. */
const setBelow = (): never => {
  throw new PkgdError('INTERNAL', 'A route was compiled before the API had its compilers')
}

/** The REST API, not yet listening. */
export function createApi(deps: ApiDeps): Api {
  const { log, bodyLimit, token } = deps
  const app: Api = fastify({
    bodyLimit,
    logger: false,
    schemaController: { compilersFactory: { buildValidator: setBelow, buildSerializer: setBelow } },
    forceCloseConnections: true,
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 256 },
  })
  app.removeContentTypeParser('text/plain')
  app.setValidatorCompiler(createValidatorCompiler())
  // Views are built by the routes; a serializer that drops what a schema does not name would harm protocol objects.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))

  const checkToken = createTokenCheck(token)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    checkHost(request.headers)
    if (request.routeOptions.config.public !== true) checkToken(request.headers.authorization)
  })
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode, elapsedTime }) => {
    log.debug('request', { method, route: routeOptions.url, status: statusCode, ms: Math.round(elapsedTime) })
  })

  app.setErrorHandler((thrown, { method, routeOptions }, reply) => {
    const error = toRequestError(thrown, bodyLimit)
    const problem = toProblem(error)
    const fields = { method, route: routeOptions.url, code: error.code }
    if (isPackageFault(error.code)) log.info('a package failed a request', { ...fields, detail: error.message })
    else if (problem.status >= 500) log.error('a request failed', { ...fields, error: thrown })
    else log.debug('a request was refused', { ...fields, detail: error.message })
    if (error.code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer realm="pkgd"')
    return reply
      .status(problem.status)
      .header('content-type', 'application/problem+json')
      .send(Buffer.from(JSON.stringify(problem)))
  })
  app.setNotFoundHandler(({ method, url }) => {
    throw new PkgdError('ROUTE_NOT_FOUND', `There is no ${method} ${url.split('?')[0]}`, { hint: '/openapi.json describes every route' })
  })

  registerRoutes(app, deps)
  registerDescription(app, deps)
  return app
}
