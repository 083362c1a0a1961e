import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildTargets, checkMounts, packageTargets } from '../../../../sandbox/confinement/mountRules.ts'

const grant = (target: string, source = '/host/dir') => ({ source, target, readOnly: true })

describe('checkMounts', () => {
  it.each(['/docs', '/docs/', '/srv/deep/er', '/application', '/run/pkgd2', '/tmp/x', '/data'])('takes %s', (target) => {
    expect(checkMounts([grant(target)], packageTargets)).toEqual([grant(target.replace(/\/$/, ''))])
  })

  it.each(['/', '/app', '/app/', '/app/node_modules', '/run', '/run/pkgd', '/run/pkgd/env', '/proc', '/proc/1', '/sys', '/dev/shm'])(
    'refuses %s',
    (target) => {
      expect(() => checkMounts([grant(target)], packageTargets)).toThrow(expect.objectContaining({ code: 'MOUNT_REFUSED' }))
    },
  )

  it.each(['docs', './docs', '/docs/../app', '/docs//x', '/docs/.', ''])('refuses the target %j, which is not plain', (target) => {
    expect(() => checkMounts([grant(target)], packageTargets)).toThrow(expect.objectContaining({ code: 'MOUNT_REFUSED' }))
  })

  it('refuses a source that is not absolute', () => {
    expect(() => checkMounts([grant('/docs', 'here')], packageTargets)).toThrow(expect.objectContaining({ code: 'MOUNT_REFUSED' }))
  })

  it('lets a build have /app, and not the starter', () => {
    expect(checkMounts([grant('/app')], buildTargets)).toEqual([grant('/app')])
    expect(() => checkMounts([grant('/run/pkgd')], buildTargets)).toThrow()
  })

  it('never lets a target through that is a part of the sandbox or holds one', () => {
    const segment = fc.constantFrom('app', 'run', 'pkgd', 'proc', 'sys', 'dev', 'docs', '..', '.', '', 'x')
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), (segments) => {
        const target = `/${segments.join('/')}`
        let taken: string | undefined
        try {
          taken = checkMounts([grant(target)], packageTargets)[0]?.target
        } catch {
          return // refused, which is always safe
        }
        const parts = (taken ?? '').split('/').slice(1)
        expect(parts).not.toContain('..')
        expect(['app', 'proc', 'sys', 'dev', '']).not.toContain(parts[0])
        expect(parts[0] === 'run' && (parts.length === 1 || parts[1] === 'pkgd')).toBe(false)
      }),
    )
  })
})
