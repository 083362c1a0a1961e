import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PkgdError } from '../../../../daemon/core/errors.ts'
import { createRedactor } from '../../../../daemon/core/redactor.ts'
import { createRpcFailure, findRpcError } from '../../../../daemon/rpc/rpcFailure.ts'

const secret = 'sk-4f"9\\z/+& ü'
const redactor = createRedactor([secret])

test.each([
  ['plain', secret],
  ['JSON', JSON.stringify({ key: secret })],
  ['a URL', `https://x.example/?key=${encodeURIComponent(secret)}`],
  ['base64', Buffer.from(secret).toString('base64')],
  ['base64url', Buffer.from(secret).toString('base64url')],
  ['twice', `${secret}${secret}`],
])('a value in a text: %s', (_, text) => {
  const cleaned = redactor.text(`before ${text} after`)
  expect(cleaned).toMatch(/^before .*\[secret\].* after$/)
  expect(cleaned).not.toContain(text)
})

test('what is no pattern is none, and the longer of two values wins', () => {
  expect(createRedactor(['a.c+', '(x', 'a.c+d']).text('abc a.c+d a.c+ (x')).toBe('abc [secret] [secret] [secret]')
})

test('a short value is taken out where it stands alone; an empty one nowhere', () => {
  expect(createRedactor(['12']).text('PIN 12, 12 ms, v3.12.1, 1234')).toBe('PIN [secret], [secret] ms, v3.[secret].1, 1234')
  expect(createRedactor(['', '  ']).text('all  of it')).not.toContain('[secret]all')
  expect(createRedactor(['']).text('all of it')).toBe('all of it')
})

test('the lines of a key are taken out one by one', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----'
  expect(createRedactor([key]).text('cannot parse MIIEvQIBADANBg')).toBe('cannot parse [secret]')
})

test('no text holds the value afterwards, wherever it was', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4, unit: 'grapheme' }), fc.string(), fc.string(), (value, before, after) => {
      fc.pre(!'[secret]'.includes(value) && value.trim() === value)
      const cleaned = createRedactor([value]).text(`${before}${value}${after}`)
      expect(cleaned.replaceAll('[secret]', '\n').includes(value)).toBe(false)
    }),
  )
})

describe('errors', () => {
  test('code, hint, issues and causes stay, without the value', () => {
    const wire = createRpcFailure({ code: -32000, message: `no ${secret}`, data: { deep: [{ [secret]: secret }] } })
    const error = new PkgdError('UPSTREAM_ERROR', `demo said ${secret}`, {
      hint: `try ${secret}`,
      issues: [{ pointer: '/key', message: `${secret} is wrong`, rule: 'format' }],
      cause: wire,
    })
    const cleaned = redactor.error(error)
    expect(cleaned).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'demo said [secret]',
      hint: 'try [secret]',
      issues: [{ pointer: '/key', message: '[secret] is wrong', rule: 'format' }],
    })
    expect(findRpcError(cleaned)).toEqual({ code: -32000, message: 'no [secret]', data: { deep: [{ '[secret]': '[secret]' }] } })
    expect(`${cleaned.stack} ${(cleaned.cause as Error).stack}`).not.toContain(secret)
    expect(cleaned).toBeInstanceOf(PkgdError)
  })

  test('what holds no secret comes back itself', () => {
    const error = new PkgdError('NOT_RUNNING', 'asleep', { cause: new Error('it slept') })
    expect(redactor.error(error)).toBe(error)
    const value = { list: [1, 'two', null, new Date(0)] }
    expect(redactor.value(value)).toBe(value)
  })
})

test('a logger says nothing of it, its children neither', () => {
  const lines: unknown[] = []
  const add = (...args: unknown[]) => void lines.push(args)
  const log = { debug: add, info: add, warn: add, error: add, child: () => log }
  const clean = redactor.logger(log).child({ package: 'demo' })
  clean.warn(`it said ${secret}`, { error: new Error(secret), list: [secret] })
  clean.info('nothing')
  expect(lines).toEqual([
    ['it said [secret]', { error: expect.objectContaining({ message: '[secret]' }), list: ['[secret]'] }],
    ['nothing', undefined],
  ])
})
