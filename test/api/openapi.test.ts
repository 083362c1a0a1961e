import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { errorTable } from '../../daemon/core/errors.ts'
import { createTestApi } from './testApi.ts'

interface Operation {
  readonly summary?: string
  readonly operationId?: string
  readonly security?: readonly unknown[]
  readonly responses: Record<string, { content?: Record<string, unknown> }>
}
interface Document {
  readonly openapi: string
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { schemas: { Problem: { properties: { code: { enum: string[] } } } } }
}

const load = async (): Promise<Document> => {
  await using api = createTestApi()
  return (await api.app.inject({ url: '/openapi.json' })).json()
}

test('the document is OpenAPI 3.1 by a validator that is not ours', async () => {
  const document = await load()
  expect(document.openapi).toBe('3.1.0')
  const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)
  expect(result).toMatchObject({ valid: true })
})

test('it has every route of the contract, each with its problems; only the public ones need no token', async () => {
  const document = await load()
  const routes = Object.entries(document.paths).flatMap(([path, item]) => Object.keys(item).map((verb) => `${verb.toUpperCase()} ${path}`))
  expect(routes.sort()).toEqual(
    [
      'GET /health',
      'GET /v1/info',
      'GET /v1/packages',
      'POST /v1/packages',
      'GET /v1/packages/{id}',
      'DELETE /v1/packages/{id}',
      'POST /v1/packages/{id}/start',
      'POST /v1/packages/{id}/stop',
      'POST /v1/packages/{id}/restart',
      'GET /v1/packages/{id}/logs',
      'GET /v1/packages/{id}/stats',
      'GET /v1/jobs',
      'GET /v1/jobs/{id}',
      'GET /v1/jobs/{id}/events',
      'POST /v1/jobs/{id}/cancel',
      'GET /v1/tools',
      'POST /v1/tools/call',
      'GET /v1/resources',
      'GET /v1/resources/templates',
      'POST /v1/resources/read',
      'GET /v1/prompts',
      'POST /v1/prompts/get',
      'POST /v1/complete',
      'GET /v1/events',
      'POST /v1/events',
      'GET /v1/search',
      'GET /v1/doctor',
      'POST /v1/doctor/verify',
      'POST /v1/doctor/repair',
      'POST /v1/validate',
      'GET /schemas/manifest.json',
      'GET /schemas/config.json',
    ].sort(),
  )
  const open: string[] = []
  for (const [path, item] of Object.entries(document.paths)) {
    for (const operation of Object.values(item)) {
      expect([path, operation.summary]).toEqual([path, expect.any(String)])
      expect(Object.keys(operation.responses.default?.content ?? {})).toEqual(['application/problem+json'])
      if (operation.security?.length === 0) open.push(path)
    }
  }
  expect(open.sort()).toEqual(['/health', '/schemas/config.json', '/schemas/manifest.json'])
  expect(document.components.schemas.Problem.properties.code.enum).toEqual(Object.keys(errorTable))
})

test('each operation has an id of its own; what streams says so', async () => {
  const document = await load()
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => ({ route: `${verb.toUpperCase()} ${path}`, ...operation })),
  )
  const ids = operations.map(({ operationId }) => operationId)
  expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id ?? ''))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
  const streams = operations.filter(({ responses }) => Object.hasOwn(responses['200']?.content ?? {}, 'text/event-stream'))
  expect(streams.map(({ route }) => route).sort()).toEqual([
    'GET /v1/events',
    'GET /v1/jobs/{id}/events',
    'GET /v1/packages/{id}/logs',
    'GET /v1/packages/{id}/stats',
  ])
})

test('the published JSON Schemas compile elsewhere, and the page loads nothing from elsewhere', async () => {
  await using api = createTestApi()
  for (const name of ['manifest', 'config']) {
    const schema = (await api.app.inject({ url: `/schemas/${name}.json` })).json()
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
    expect(validate({ nope: 1 })).toBe(false)
  }
  const page = await api.app.inject({ url: '/docs' })
  expect(page.headers['content-type']).toMatch(/^text\/html/)
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  expect(page.body).not.toMatch(/(src|href)="(https?:)?\/\//)
})
