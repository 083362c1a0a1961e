// Says what it can see and do, as one line of JSON, after a first line on stdin.

import { lookup } from 'node:dns/promises'
import { accessSync, closeSync, constants, openSync, readFileSync, statSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces, userInfo } from 'node:os'

const attempt = (work) => {
  try {
    return work() ?? 'done'
  } catch (error) {
    return error.code ?? error.message
  }
}
const write = (path) => attempt(() => writeFileSync(path, 'x'))
const status = Object.fromEntries(
  readFileSync('/proc/self/status', 'utf8')
    .split('\n')
    .map((line) => line.split(/:\s+/)),
)
const fill = (path) =>
  attempt(() => {
    const file = openSync(path, 'w')
    const block = Buffer.alloc(1 << 20)
    let written = 0
    try {
      for (; written < 1 << 30; written += writeSync(file, block));
    } catch (error) {
      return { written, code: error.code }
    } finally {
      closeSync(file)
      unlinkSync(path)
    }
    return { written, code: null }
  })
const reach = (host, port) =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2000 })
    socket.once('connect', () => resolve('connected'))
    socket.once('timeout', () => resolve('timeout'))
    socket.once('error', (error) => resolve(error.code))
  }).finally()

process.stdin.once('data', async () => {
  const [host = '127.0.0.1', port = '9'] = process.argv.slice(2)
  const facts = {
    uid: process.getuid(),
    gid: process.getgid(),
    groups: process.getgroups(),
    user: attempt(() => `${userInfo().username} ${userInfo().homedir}`),
    cwd: process.cwd(),
    home: process.env.HOME,
    env: process.env,
    capabilities: [status.CapEff, status.CapPrm, status.CapBnd],
    noNewPrivileges: status.NoNewPrivs,
    seccomp: status.Seccomp,
    parent: attempt(() => readFileSync('/proc/1/comm', 'utf8').trim()),
    write: Object.fromEntries(
      ['/x', '/app/x', '/etc/x', '/usr/x', '/run/pkgd/x', '/tmp/x', '/data/x', '/granted/x'].map((path) => [path, write(path)]),
    ),
    removePipe: attempt(() => unlinkSync('/run/pkgd/in')),
    mknod: attempt(() => accessSync('/dev/sda', constants.F_OK)),
    tmpMode: attempt(() => statSync('/tmp').mode & 0o7777),
    tmp: fill('/tmp/fill'),
    interfaces: Object.keys(networkInterfaces()),
    reach: await reach(host, Number(port)),
    lookup: await lookup('localhost.example.invalid').then(
      () => 'resolved',
      (error) => error.code,
    ),
  }
  process.stdout.write(`${JSON.stringify(facts)}\n`)
})
