// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of pkgd.yaml look like this
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createConfigSource } from '../../../../daemon/config/createConfigSource.ts'
import { locateHome } from '../../../../daemon/core/home.ts'
import { systemClock } from '../../../../daemon/core/ports.ts'
import { createMemoryLog } from '../manual.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pkgd-config-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const open = (env: Record<string, string> = {}) =>
  createConfigSource({ home: locateHome({ PKGD_HOME: root }), env, clock: systemClock, log: createMemoryLog() })

test('a changed file is read again; an invalid one is reported and the old stays; .env counts', async () => {
  writeFileSync(join(root, 'pkgd.yaml'), 'calls: { timeout: 1s }')
  using source = await open()
  expect(source.current().calls.timeoutMs).toBe(1000)
  const outcomes: { valid: boolean; issues: number }[] = []
  let told = Promise.withResolvers<void>()
  source.watch((outcome) => {
    outcomes.push(outcome)
    told.resolve()
  })
  const change = async (name: string, text: string) => {
    told = Promise.withResolvers()
    // As an editor does it: a new file in place of the old one.
    writeFileSync(join(root, 'new'), text)
    renameSync(join(root, 'new'), join(root, name))
    await told.promise
  }
  await change('pkgd.yaml', 'calls:\n  timeout: ${T:-2s}')
  expect(source.current().calls.timeoutMs).toBe(2000)
  await change('pkgd.yaml', 'calls: { timeout: soon }\nnope: 1')
  expect(source.current().calls.timeoutMs).toBe(2000)
  expect(source.problem()).toMatchObject({ code: 'CONFIG_INVALID' })
  await change('pkgd.yaml', 'calls: { timeout: "${T:-3s}" }')
  expect(source.problem()).toBeNull()
  await change('.env', 'T=4s')
  expect(source.current().calls.timeoutMs).toBe(4000)
  expect(outcomes).toEqual([
    { valid: true, issues: 0 },
    { valid: false, issues: 2 },
    { valid: true, issues: 0 },
    { valid: true, issues: 0 },
  ])
})

test('an invalid one at start is refused', async () => {
  writeFileSync(join(root, 'pkgd.yaml'), 'calls: 1')
  await expect(open()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})
