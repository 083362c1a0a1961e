import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packageParts, sandboxParts } from '../../../../daemon/core/mountTargets.ts'
import { checkMounts } from '../../../../sandbox/confinement/mountRules.ts'

const grant = (target: string, source = '/host/dir') => ({ source, target, readOnly: true })

describe('checkMounts', () => {
  it.each(['/docs', '/docs/', '/srv/deep/er', '/application', '/run/pkgd2', '/etc/app.conf', '/etc/hosts.d'])('takes %s', (target) => {
    expect(checkMounts([grant(target)], packageParts)).toEqual([grant(target.replace(/\/$/, ''))])
  })

  it.each([
    '/',
    '/app',
    '/app/',
    '/app/node_modules',
    '/run',
    '/run/pkgd',
    '/run/pkgd/env',
    '/proc',
    '/proc/1',
    '/sys',
    '/dev/shm',
    '/tmp/x',
    '/data',
    '/etc',
    '/etc/passwd',
    '/etc/group',
    '/etc/hosts',
    '/etc/hostname',
    '/etc/resolv.conf',
  ])('refuses %s', (target) => {
    expect(() => checkMounts([grant(target)], packageParts)).toThrow(expect.objectContaining({ code: 'MOUNT_REFUSED' }))
  })

  it.each(['docs', './docs', '/docs/../app', '/docs//x', '/docs/.', ''])('refuses the target %j, which is not plain', (target) => {
    expect(() => checkMounts([grant(target)], packageParts)).toThrow(expect.objectContaining({ code: 'MOUNT_REFUSED' }))
  })

  it('refuses a source that is not absolute', () => {
    expect(() => checkMounts([grant('/docs', 'here')], packageParts)).toThrow(expect.objectContaining({ code: 'MOUNT_REFUSED' }))
  })

  it('lets a build have /app, and not the starter', () => {
    expect(checkMounts([grant('/app')], sandboxParts)).toEqual([grant('/app')])
    expect(() => checkMounts([grant('/run/pkgd')], sandboxParts)).toThrow()
  })

  it('never lets a target through that is a part of the sandbox or holds one', () => {
    const segment = fc.constantFrom('app', 'run', 'pkgd', 'proc', 'sys', 'dev', 'etc', 'hosts', 'docs', '..', '.', '', 'x')
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), (segments) => {
        const target = `/${segments.join('/')}`
        let taken: string | undefined
        try {
          taken = checkMounts([grant(target)], packageParts)[0]?.target
        } catch {
          return // refused, which is always safe
        }
        const parts = (taken ?? '').split('/').slice(1)
        expect(parts).not.toContain('..')
        expect(['app', 'proc', 'sys', 'dev', '']).not.toContain(parts[0])
        expect(parts[0] === 'etc' && (parts.length === 1 || parts[1] === 'hosts')).toBe(false)
        expect(parts[0] === 'run' && (parts.length === 1 || parts[1] === 'pkgd')).toBe(false)
      }),
    )
  })
})
