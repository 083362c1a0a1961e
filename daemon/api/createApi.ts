import fastify from 'fastify'
import { PkgdError } from '../core/errors.ts'
import { createErrorAnswer } from './answerError.ts'
import type { Api, ApiDeps } from './api.ts'
import { checkHost, createTokenCheck } from './guard.ts'
import { registerRoutes } from './registerRoutes.ts'
import { registerDescription } from './routes/description.ts'
import { createValidatorCompiler } from './validators.ts'

/** In the place of fastify's own compilers, so that those are not loaded: the API's are set right away. */
const setBelow = (): never => {
  throw new PkgdError('INTERNAL', 'A route was compiled before the API had its compilers')
}

/** The REST API, not yet listening. */
export function createApi(deps: ApiDeps): Api {
  const { log, token, bodyLimit } = deps
  const checkToken = createTokenCheck(token)
  const answerError = createErrorAnswer(deps)
  const app: Api = fastify({
    bodyLimit,
    logger: false,
    schemaController: { compilersFactory: { buildValidator: setBelow, buildSerializer: setBelow } },
    forceCloseConnections: true,
    // What the router refuses by itself passes no hook.
    frameworkErrors(error, request, reply) {
      reply.header('x-content-type-options', 'nosniff')
      try {
        checkHost(request.headers)
        checkToken(request.headers.authorization)
      } catch (refusal) {
        return answerError(refusal, request, reply)
      }
      return answerError(error, request, reply)
    },
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 256 },
  })
  app.removeContentTypeParser('text/plain')
  app.setValidatorCompiler(createValidatorCompiler())
  // Views are built by the routes; a serializer that drops what a schema does not name would harm protocol objects.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    checkHost(request.headers)
    if (request.routeOptions.config.public !== true) checkToken(request.headers.authorization)
  })
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode, elapsedTime }) => {
    log.debug('request', { method, route: routeOptions.url, status: statusCode, ms: Math.round(elapsedTime) })
  })

  app.setErrorHandler(answerError)
  app.setNotFoundHandler(({ method, url }) => {
    throw new PkgdError('ROUTE_NOT_FOUND', `There is no ${method} ${url.split('?')[0]}`, { hint: '/openapi.json describes every route' })
  })

  registerRoutes(app, deps)
  registerDescription(app, deps)
  return app
}
