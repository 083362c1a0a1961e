import { Type as original } from 'typebox'
import { expect, test } from 'vitest'
import { Type } from '../../../../daemon/api/schemas/type.ts'

/** One schema that uses every builder in every way that it can be used. */
const build = (t: typeof Type | typeof original) => {
  return t.Object(
    {
      array: t.Array(t.String({ minLength: 1 }), { minItems: 1 }),
      bare: t.Array(t.Integer()),
      boolean: t.Optional(t.Boolean({ description: 'x' })),
      enum: t.Enum(['a', 'b']),
      integer: t.Integer({ minimum: 1, default: 3 }),
      literals: t.Union([t.Literal('a'), t.Literal(1), t.Literal(true)], { description: 'y' }),
      null: t.Null(),
      number: t.Optional(t.Number({ exclusiveMinimum: 0 })),
      empty: t.Object({}),
      allOptional: t.Optional(
        t.Object({ a: t.Optional(t.String()), b: t.Optional(t.Object({ c: t.String() })) }, { additionalProperties: true }),
      ),
      record: t.Record(t.String(), t.Unknown()),
      keyed: t.Record(t.String({ pattern: '^[a-z]+$' }), t.Array(t.Null()), { additionalProperties: false }),
      string: t.String({ pattern: '^x', format: 'date-time' }),
      unknown: t.Optional(t.Unknown({ description: 'z' })),
      unsafe: t.Unsafe<{ a: 1 }>(t.Object({ a: t.Number() })),
    },
    { additionalProperties: false },
  )
}

test("the schemas are TypeBox's own, key for key and in its order", () => {
  expect(JSON.parse(JSON.stringify(build(Type)))).toEqual(JSON.parse(JSON.stringify(build(original))))
})

test('a schema that is optional in one object is required in another', () => {
  const name = Type.String()
  expect(Type.Object({ name: Type.Optional(name) })).not.toHaveProperty('required')
  expect(Type.Object({ name })).toMatchObject({ required: ['name'] })
})
