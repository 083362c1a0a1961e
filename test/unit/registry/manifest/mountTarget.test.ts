import { describe, expect, it } from 'vitest'
import { checkMountTarget } from '../../../../registry/manifest/mountTarget.ts'

describe('checkMountTarget', () => {
  it.each(['/docs', '/srv/data', '/usr/share/models', '/home/me', '/apple', '/tmpfiles'])('%s can be a target', (target) =>
    expect(checkMountTarget(target)).toBeUndefined(),
  )

  it.each([
    ['docs', 'absolute'],
    ['/', '/app'],
    ['/app', '/app'],
    ['/app/node_modules', '/app'],
    ['/tmp/x', '/tmp'],
    ['/run', '/run/pkgd'],
    ['/run/pkgd/in', '/run/pkgd'],
    ['/proc/1', '/proc'],
    ['/sys', '/sys'],
    ['/dev/null', '/dev'],
    ['/data', '/data'],
    ['/etc', '/etc'],
    ['/etc/passwd', '/etc/passwd'],
    ['/etc/group', '/etc/group'],
    ['/etc/hosts', '/etc/hosts'],
    ['/etc/hostname', '/etc/hostname'],
    ['/etc/resolv.conf', '/etc/resolv.conf'],
    ['/usr', '/usr'],
    ['/x/../app', '".."'],
    ['/x//y', 'slashes'],
    ['/x/', 'slashes'],
    ['/a:b', 'colon'],
    ['/a\nb', 'control'],
  ])('%j cannot', (target, why) => expect(checkMountTarget(target)).toContain(why))
})
