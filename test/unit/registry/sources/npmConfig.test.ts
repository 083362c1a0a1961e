import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  pickNpmAuthorization,
  pickNpmRegistry,
  readNpmConfig,
  toNpmConfig,
  toNpmOptions,
} from '../../../../registry/fetch/npm/npmConfig.ts'
import { parseNpmEnv, parseNpmrc } from '../../../../registry/fetch/npm/parseNpmrc.ts'

test('an npmrc file: comments, quotes, lists, variables', () => {
  const text = `
; a comment
# another
registry = https://npm.test/path
@own:registry=https://own.test/
//own.test/:_authToken=\${TOKEN}
//old.test/:_authToken=\${MISSING}
//opt.test/:_authToken=\${MISSING?}
ca[]="one\\ntwo"
ca[] = three
strict-ssl
cafile=/etc/ca.pem ; trailing
email = a@b # trailing
escaped=\\\${TOKEN}
`
  expect(parseNpmrc(text, { TOKEN: 'secret' })).toEqual({
    registry: 'https://npm.test/path',
    '@own:registry': 'https://own.test/',
    '//own.test/:_authToken': 'secret',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: npm leaves a name that is not set as it stands
    '//old.test/:_authToken': '${MISSING}',
    '//opt.test/:_authToken': '',
    ca: ['one\ntwo', 'three'],
    'strict-ssl': 'true',
    cafile: '/etc/ca.pem',
    email: 'a@b',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: escaped
    escaped: '${TOKEN}',
  })
})

test('the environment in either case; keys of a registry as they are', () => {
  expect(
    parseNpmEnv({
      NPM_CONFIG_STRICT_SSL: 'false',
      npm_config_registry: 'https://a.test',
      'npm_config_//h/:_authToken': 'T',
      npm_config__x: '1',
      OTHER: 'x',
    }),
  ).toEqual({
    'strict-ssl': 'false',
    registry: 'https://a.test',
    '//h/:_authToken': 'T',
  })
})

test('user file over machine file, environment over both; a project file in the working directory is not read', async () => {
  const home = mkdtempSync(join(tmpdir(), 'pkgd-npmrc-'))
  const cwd = process.cwd()
  try {
    writeFileSync(join(home, 'machine'), 'registry=https://machine.test/\nproxy=http://machine:1\nnoproxy=x.test')
    writeFileSync(join(home, '.npmrc'), 'registry=https://user.test\nproxy=http://user:1')
    const env = { HOME: home, npm_config_globalconfig: join(home, 'machine') }
    mkdirSync(join(home, 'project'))
    writeFileSync(join(home, 'project/.npmrc'), 'registry=https://project.test')
    process.chdir(join(home, 'project'))
    expect(await readNpmConfig(env)).toMatchObject({
      registry: 'https://user.test/',
      network: { proxy: 'http://user:1', noProxy: 'x.test' },
    })
    expect(await readNpmConfig({ ...env, NPM_CONFIG_REGISTRY: 'https://env.test' })).toMatchObject({ registry: 'https://env.test/' })
    expect(await readNpmConfig({ ...env, npm_config_userconfig: join(home, 'none') })).toMatchObject({ registry: 'https://machine.test/' })
  } finally {
    process.chdir(cwd)
    rmSync(home, { recursive: true })
  }
})

const config = toNpmConfig({
  registry: 'https://npm.test/',
  '@own:registry': 'https://own.test/npm',
  '//own.test/npm/:_authToken': 'own-token',
  '//npm.test/:_auth': 'YTpi',
  '//pass.test/:username': 'me',
  '//pass.test/:_password': Buffer.from('pw').toString('base64'),
})

test('a scope has its registry', () => {
  expect([pickNpmRegistry(config, '@own/a'), pickNpmRegistry(config, '@other/a'), pickNpmRegistry(config, 'own')]).toEqual([
    'https://own.test/npm/',
    'https://npm.test/',
    'https://npm.test/',
  ])
})

test.each([
  ['https://own.test/npm/@own%2fa', 'Bearer own-token'],
  ['https://own.test/npm/deep/er/a.tgz', 'Bearer own-token'],
  ['https://own.test/npmx/a', undefined],
  ['https://own.test/other', undefined],
  ['https://evil.own.test/npm/a', undefined],
  ['https://npm.test/a', 'Basic YTpi'],
  ['https://npm.test:8443/a', undefined],
  ['https://pass.test/a', `Basic ${Buffer.from('me:pw').toString('base64')}`],
])('credentials for %s: %s', (url, expected) => {
  expect(pickNpmAuthorization(config, url)).toBe(expected)
})

test("the same as npm's own libraries take it", async () => {
  expect(await toNpmOptions(config)).toMatchObject({
    registry: 'https://npm.test/',
    '@own:registry': 'https://own.test/npm/',
    '//own.test/npm/:_authToken': 'own-token',
    strictSSL: true,
  })
  expect(await toNpmOptions(toNpmConfig({ 'strict-ssl': 'false', 'https-proxy': 'http://p:1', ca: ['PEM'] }))).toMatchObject({
    strictSSL: false,
    httpsProxy: 'http://p:1',
    ca: ['PEM'],
  })
})
