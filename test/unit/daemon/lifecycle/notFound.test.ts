import { expect, test } from 'vitest'
import { toPackageNotFound } from '../../../../daemon/lifecycle/notFound.ts'

test.each([
  ['wether', ['echo', 'weather'], 'did you mean weather?'],
  ['WEATHER', ['echo', 'weather'], 'did you mean weather?'],
  ['zzz', ['echo', 'weather'], /^the nearest is \w+; there are echo, weather$/],
  ['zzz', Array.from({ length: 30 }, (_, n) => `package-${n}`), /, package-11, …$/],
  ['zzz', [], 'nothing is installed yet: pkg install <spec>'],
])('%s among %j: %s', (id, installed, hint) => {
  const error = toPackageNotFound(id, installed)
  expect(error).toMatchObject({ code: 'PACKAGE_NOT_FOUND', message: `No package ${id} is installed` })
  expect(error.hint).toMatch(hint)
})
