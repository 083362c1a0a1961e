// Says what it can see and do, as one line of JSON, after a first line on stdin.

import { execFileSync } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
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

/** Any shared library will do: that it is no module is found out after its code was mapped. */
const loadFrom = (path) => {
  const library = process.report.getReport().sharedObjects.find((name) => /lib(gcc_s|m)[.-]/.test(name))
  copyFileSync(library, path)
  try {
    process.dlopen({ exports: {} }, path)
  } catch (error) {
    return /self-register/.test(error.message) ? 'loaded' : error.message
  } finally {
    unlinkSync(path)
  }
}
/** Whatever a place gives away: names, or the beginning of a file. */
const readSome = (path) => {
  if (statSync(path).isDirectory()) return readdirSync(path).join(' ')
  const file = openSync(path, 'r')
  try {
    const text = Buffer.alloc(64)
    return text.toString('latin1', 0, readSync(file, text))
  } finally {
    closeSync(file)
  }
}
const hiddenPlaces = [
  ...['acpi', 'asound', 'kcore', 'keys', 'latency_stats', 'sched_debug', 'scsi', 'timer_list', 'timer_stats'].map(
    (name) => `/proc/${name}`,
  ),
  '/sys/firmware',
]

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
    sharedMemory: fill('/dev/shm/fill'),
    runsFromTmp: attempt(() => {
      writeFileSync('/tmp/script', '#!/bin/sh\necho ran', { mode: 0o755 })
      return execFileSync('/tmp/script').toString().trim()
    }),
    loadsFromTmp: loadFrom('/tmp/library.node'),
    hidden: Object.fromEntries(hiddenPlaces.map((path) => [path, attempt(() => readSome(path))])),
    interfaces: Object.keys(networkInterfaces()),
    reach: await reach(host, Number(port)),
    lookup: await lookup('localhost.example.invalid').then(
      () => 'resolved',
      (error) => error.code,
    ),
  }
  process.stdout.write(`${JSON.stringify(facts)}\n`)
})
