import { describe, expect, it } from 'vitest'
import { checkDependencySpecs } from '../../../../registry/manifest/checkDependencySpecs.ts'
import { classifyNpmSpec, classifyPypiRequirement } from '../../../../registry/manifest/dependencySpec.ts'
import { parseManifest } from '../../../../registry/manifest/parseManifest.ts'
import { minimal } from './fixtures.ts'

describe('classifyPypiRequirement', () => {
  it.each([
    ['httpx', 'registry'],
    ['httpx>=0.25.0', 'registry'],
    ['httpx >= 0.25, != 0.26, < 1', 'registry'],
    ['httpx[http2,socks]~=0.25', 'registry'],
    ['httpx==0.25.*', 'registry'],
    ['pywin32 >= 1.0 ; sys_platform == "win32" and python_version < \'3.13\'', 'registry'],
    ['name (>=1.0)', 'registry'],
    ['torch==2.1.0+cpu', 'registry'],
    ['x==1.0rc1.post2.dev3', 'registry'],
    ['git+https://host/x.git', 'git'],
    ['x @ git+ssh://git@host/x', 'git'],
    ['x@https://host/x.whl', 'url'],
    ['x[extra] @ https://host/x.whl', 'url'],
    ['https://host/x.tar.gz', 'url'],
    ['x @ file:///etc/x', 'file'],
    ['./local', 'file'],
    ['/abs/x', 'file'],
    ['../x', 'file'],
    ['x-1.0-py3-none-any.whl', 'file'],
    ['sub/dir', 'file'],
    ['-r other.txt', 'option'],
    ['--index-url=https://evil', 'option'],
    ['-e .', 'option'],
    ['x --config-settings=a=b', 'option'],
    ['x>=1 -i https://evil', 'option'],
    ['a b', 'malformed'],
    ['x>=', 'malformed'],
    ['x^1', 'malformed'],
    ['', 'malformed'],
    ['x ; import os', 'malformed'],
    ['x ; $(rm)', 'malformed'],
  ])('%j is %s', (spec, source) => expect(classifyPypiRequirement(spec)).toBe(source))
})

describe('classifyNpmSpec', () => {
  it.each([
    ['zod', 'registry'],
    ['zod@^4', 'registry'],
    ['@scope/name@1.2.3', 'registry'],
    ['zod@latest', 'registry'],
    ['zod@>=1 <3 || 4', 'registry'],
    ['a@npm:b@1', 'registry'],
    ['a@file:../x', 'file'],
    ['./x', 'file'],
    ['/x', 'file'],
    ['a@link:../x', 'file'],
    ['@s/a@workspace:*', 'file'],
    ['user/repo', 'git'],
    ['a@github:user/repo', 'git'],
    ['git+ssh://git@host/x.git', 'git'],
    ['a@https://host/x.tgz', 'url'],
    ['x.tgz', 'file'],
    ['--registry=http://x', 'option'],
    ['zod --unsafe-perm', 'option'],
    ['', 'malformed'],
    ['Bad Name', 'malformed'],
  ])('%j is %s', (spec, source) => expect(classifyNpmSpec(spec)).toBe(source))
})

describe('checkDependencySpecs', () => {
  const manifest = (packages: string[]) => parseManifest({ ...minimal, dependencies: { packages: packages.map((spec) => `npm:${spec}`) } })
  const check =
    (packages: string[], allowed: string[] = []) =>
    () =>
      checkDependencySpecs(manifest(packages), allowed)

  it("lets the registry's pass", () => expect(check(['zod@4'])).not.toThrow())

  it('names every dependency that is from elsewhere', () => {
    expect(check(['zod', 'a@file:../a', 'b@https://host/b.tgz', 'user/repo'])).toThrow(
      expect.objectContaining({
        code: 'DEPENDENCY_SOURCE',
        issues: [
          expect.objectContaining({ rule: 'source:file' }),
          expect.objectContaining({ rule: 'source:url' }),
          expect.objectContaining({ rule: 'source:git' }),
        ],
      }),
    )
  })

  it('lets pass what the operator allows and nothing else', () => {
    expect(check(['user/repo'], ['git'])).not.toThrow()
    expect(check(['a@file:../a'], ['git'])).toThrow('comes from a file')
  })

  it('never lets options of the installer pass', () =>
    expect(check(['--registry=http://x'], ['git', 'url', 'file', 'option'])).toThrow('option'))
})
