import { ratePattern } from './parseRate.ts'
import { closed, commandProperties, described, list, type Schema, text } from './schemaParts.ts'

const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 }
const urlPath = described({ type: 'string', pattern: '^/[^\\s?#]*$' }, 'a path that begins with "/"')

/** `mcp` of an mcp-server. */
export const mcpSchema: Schema = {
  ...closed(
    {
      transport: { enum: ['stdio', 'streamable-http', 'sse'], default: 'stdio' },
      ...commandProperties,
      port,
      path: urlPath,
      sessions: { enum: ['auto', 'shared', 'per-client'], default: 'auto' },
    },
    ['command'],
  ),
  if: { type: 'object', properties: { transport: { enum: ['streamable-http', 'sse'] } }, required: ['transport'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { type: 'object', properties: { port: true }, required: ['port'] },
}

const skill: Schema = {
  ...closed(
    {
      id: { type: 'string', minLength: 1, maxLength: 128 },
      name: text,
      description: text,
      tags: list(text),
      input_schema: { type: 'object' },
      idempotent: { type: 'boolean', default: false },
    },
    ['id'],
  ),
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 128,
  description: 'the name of a skill, or an object with its "id"',
}

/** `a2a` of an a2a-agent. */
export const a2aSchema: Schema = closed(
  {
    ...commandProperties,
    port,
    card_path: { ...urlPath, default: '/.well-known/agent-card.json' },
    skills: list(skill),
    capabilities: closed({ streaming: { type: 'boolean', default: false }, pushNotifications: { type: 'boolean', default: false } }),
    max_concurrent_tasks: { type: 'integer', minimum: 1, maximum: 10_000, default: 5 },
    rate_limit: described({ type: 'string', pattern: ratePattern }, 'a rate such as "60/min" or "5/s"'),
  },
  ['command', 'port'],
)

/** `hook` of an internal-hook. */
export const hookSchema: Schema = {
  ...closed(
    {
      ...commandProperties,
      events: list(described({ type: 'string', pattern: '^[^\\s]+$' }, 'an event type or a glob such as "request.*"')),
      mode: { enum: ['observe', 'intercept'], default: 'observe' },
      points: {
        ...list({ enum: ['tool.before', 'tool.after', 'resource.before', 'resource.after', 'task.before', 'task.after'] }),
        minItems: 1,
        uniqueItems: true,
      },
      packages: list(described({ type: 'string', pattern: '^[a-z0-9*?._-]+$' }, 'a package id or a glob such as "weather-*"')),
      order: { type: 'integer', default: 0 },
      timeout_ms: { type: 'integer', minimum: 1, maximum: 600_000, default: 2000 },
      on_error: { enum: ['deny', 'allow'], default: 'deny' },
    },
    ['command'],
  ),
  if: { type: 'object', properties: { mode: { const: 'intercept' } }, required: ['mode'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { type: 'object', properties: { points: true }, required: ['points'] },
  else: { type: 'object', properties: { events: { type: 'array', minItems: 1 } }, required: ['events'] },
}
