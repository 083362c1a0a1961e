import { PkgdError } from '../core/errors.ts'
import { isObject } from '../rpc/parseMessage.ts'

type Result = Readonly<Record<string, unknown>>

/** The least that makes a result what it claims to be: what callers reach into without looking. The rest goes through as it came. */
const shapes = {
  'tools/call': {
    expected: 'an array "content" of blocks that have a type',
    fits: ({ content }: Result) => isArrayOf(content, ({ type }) => typeof type === 'string'),
  },
  'resources/read': {
    expected: 'an array "contents" of objects that have a uri',
    fits: ({ contents }: Result) => isArrayOf(contents, ({ uri }) => typeof uri === 'string'),
  },
  'prompts/get': {
    expected: 'an array "messages" of objects that have a role',
    fits: ({ messages }: Result) => isArrayOf(messages, ({ role }) => typeof role === 'string'),
  },
  'completion/complete': {
    expected: 'an object "completion" with an array "values" of texts',
    fits: ({ completion }: Result) =>
      isObject(completion) && Array.isArray(completion.values) && completion.values.every((value) => typeof value === 'string'),
  },
} as const satisfies Record<string, { expected: string; fits: (result: Result) => boolean }>

/** The requests whose results callers get. */
export type CallMethod = keyof typeof shapes

/** Errors: PROTOCOL_ERROR, naming the package and the method. */
export function checkResult(name: string, method: CallMethod, result: Record<string, unknown>): Record<string, unknown> {
  // Structured content alone breaks the specification; its own SDK reads it as one without blocks, and so do servers that were tested with nothing else.
  const whole =
    method === 'tools/call' && isObject(result.structuredContent) && result.content === undefined ? { content: [], ...result } : result
  const { expected, fits } = shapes[method]
  if (fits(whole)) return whole
  throw new PkgdError('PROTOCOL_ERROR', `${name} answered ${method} with something else than a result of it: expected ${expected}`, {
    hint: `the package has to be mended; it has ${Object.keys(result).length === 0 ? 'no keys' : `the keys ${Object.keys(result).slice(0, 8).join(', ')}`}`,
  })
}

const isArrayOf = (value: unknown, fits: (item: Result) => boolean): boolean =>
  Array.isArray(value) && value.every((item) => isObject(item) && fits(item))
