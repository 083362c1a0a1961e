import { describe, expect, it } from 'vitest'
import { readImports } from './readImports.ts'

const brief = (source: string) =>
  readImports(source).map(({ specifier, typeOnly, dynamic, names, line }) =>
    `${line} ${specifier}${typeOnly ? ' type' : ''}${dynamic ? ' dynamic' : ''} ${names.join(',')}`.trim(),
  )

describe('readImports', () => {
  it.each<[string, string[]]>([
    ["import a from 'a'", ['1 a']],
    ['import a, { b as c, type D } from "a"', ['1 a b,D']],
    ["import * as a from 'a'", ['1 a']],
    ["import 'a'", ['1 a']],
    ["import type { A } from 'a'", ['1 a type A']],
    ["import { type A, type B } from 'a'", ['1 a type A,B']],
    ["import type, { x } from 'a'", ['1 a x']],
    ["import a, { type B } from 'a'", ['1 a B']],
    ["\nimport {\n  a,\n  b,\n} from 'a'\nimport c from 'c'", ['2 a a,b', '6 c']],
    ["export { a } from 'a'\nexport * from 'b'\nexport type { C } from 'c'", ['1 a a', '2 b', '3 c type C']],
    ["const a = await import('a')", ['1 a dynamic']],
    ["let x: typeof import('a')", ['1 a type dynamic']],
    ["const a = require('a')", ['1 a dynamic']],
    ["import a from 'a' with { type: 'json' }", ['1 a']],
    ["// import a from 'a'\n/* import b from 'b'\nimport c from 'c' */\nimport d from 'd'", ['4 d']],
    ["const text = `\nimport a from 'a'\n`\nimport b from 'b'", ['4 b']],
    ["const quote = /['\"`]/g\nimport b from 'b'", ['2 b']],
    ["const half = a / b // 'x\nimport b from 'b'", ['2 b']],
    ["const url = 'https://x' // import('a')\nimport b from 'b'", ['2 b']],
    ["export const from = 'a'", []],
    ["export function x() {\n  return from('a')\n}", []],
    ['const text = "import(\'a\')"', []],
    ["const important = 'x'", []],
  ])('%j', (source, imports) => expect(brief(source)).toEqual(imports))
})
