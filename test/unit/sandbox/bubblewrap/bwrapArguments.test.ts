import { describe, expect, it } from 'vitest'
import { type BoxPlan, toBwrapOptions, toInnerCommand } from '../../../../sandbox/bubblewrap/bwrapArguments.ts'

const plan = (changes: Partial<BoxPlan> = {}): BoxPlan => ({
  root: '/images/node',
  layout: { directories: ['etc', 'usr'], links: [{ name: 'bin', target: 'usr/bin' }] },
  tree: '/store/tree',
  box: '/run/box',
  mounts: [],
  hidden: { files: ['/proc/keys'], directories: ['/proc/acpi'] },
  tmpBytes: 4096,
  files: [],
  isolateNetwork: true,
  asRoot: true,
  uid: 200001,
  env: { PATH: '/usr/bin' },
  ...changes,
})
const text = (changes: Partial<BoxPlan> = {}) => toBwrapOptions(plan(changes)).join(' ')

describe('toBwrapOptions', () => {
  it('unshares everything, and the network where none is prepared', () => {
    for (const option of [
      '--unshare-ipc',
      '--unshare-pid',
      '--unshare-uts',
      '--unshare-net',
      '--die-with-parent',
      '--new-session',
      '--clearenv',
    ]) {
      expect(text()).toContain(option)
    }
    expect(text({ isolateNetwork: false })).not.toContain('--unshare-net')
  })

  it('lays the image, the tree and the box read-only, and closes the root after every mount', () => {
    const options = text({ mounts: [{ source: '/home/me/docs', target: '/docs', readOnly: false }] })
    expect(options).toContain('--ro-bind /images/node/usr /usr')
    expect(options).toContain('--symlink usr/bin /bin')
    expect(options).toContain('--ro-bind /store/tree /app')
    expect(options).toContain('--ro-bind /run/box /run/pkgd')
    expect(options).toContain('--bind /home/me/docs /docs --remount-ro /')
  })

  it('binds read-only what was granted so', () => {
    expect(text({ mounts: [{ source: '/a', target: '/b', readOnly: true }] })).toContain('--ro-bind /a /b')
  })

  it('makes the places above a mount readable by everyone, outside the image', () => {
    const options = text({
      mounts: [
        { source: '/a', target: '/srv/one/two', readOnly: true },
        { source: '/c', target: '/etc/conf', readOnly: true },
      ],
    })
    expect(options).toContain('--perms 0755 --dir /srv --perms 0755 --dir /srv/one')
    expect(options).not.toContain('--dir /etc')
  })

  it('bounds /tmp, and is sticky', () => {
    expect(text()).toContain('--size 4096 --perms 1777 --tmpfs /tmp')
  })

  it('bounds shared memory by /tmp, and by what engines give', () => {
    expect(text()).toContain('--size 4096 --perms 1777 --tmpfs /dev/shm')
    expect(text({ tmpBytes: 1 << 30 })).toContain('--size 67108864 --perms 1777 --tmpfs /dev/shm')
  })

  it('empties what tells of the host, once /proc is there', () => {
    expect(text()).toMatch(
      /--proc \/proc .*--dev-bind \/dev\/null \/proc\/keys --size 4096 --perms 0555 --tmpfs \/proc\/acpi --remount-ro \/proc\/acpi/,
    )
  })

  it("lays a sandbox's own files over the image's", () => {
    const files = [{ source: '/run/resolv.conf', target: '/etc/resolv.conf', readOnly: true }]
    expect(text({ files })).toMatch(/--ro-bind \S+ \/etc .*--ro-bind \/run\/resolv.conf \/etc\/resolv.conf/)
  })

  it('drops every capability but the three that take on the user; without root all of them', () => {
    const added = (options: readonly string[]) => options.filter((_, index) => options[index - 1] === '--cap-add')
    expect(added(toBwrapOptions(plan()))).toEqual(['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'])
    expect(added(toBwrapOptions(plan({ asRoot: false })))).toEqual([])
    expect(text({ asRoot: false })).toContain('--unshare-user --uid 200001 --gid 200001')
  })

  it('works in /app, and a build in /tmp', () => {
    expect(text()).toContain('--chdir /app')
    expect(text({ tree: null })).toContain('--chdir /tmp')
    expect(text({ tree: null })).not.toContain('/app')
  })
})

describe('toInnerCommand', () => {
  it('takes on the user for good before anything of the package runs', () => {
    expect(toInnerCommand(['/bin/sh', '/run/pkgd/starter', 'node'], 200001, true).join(' ')).toBe(
      'setpriv --reuid 200001 --regid 200001 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all /bin/sh -c exec 4>&-; exec "$0" "$@" /bin/sh /run/pkgd/starter node',
    )
    expect(toInnerCommand(['node'], 200001, false)).toEqual(['/bin/sh', '-c', 'exec 4>&-; exec "$0" "$@"', 'node'])
  })
})
