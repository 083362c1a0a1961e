import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Arborist from '@npmcli/arborist'
import { findUnbuilt } from './findUnbuilt.ts'
import { createLockedPackuments } from './lockedPackuments.ts'
import type { NpmWorkerReply, NpmWorkerRequest } from './workerProtocol.ts'

/** Entry point of the child process that installs npm packages with npm's own libraries, so that their memory is never the daemon's. */
const reply = (message: NpmWorkerReply): Promise<void> =>
  new Promise((resolve) => {
    if (process.send) process.send(message, undefined, undefined, () => resolve())
    else resolve()
  })

async function install(request: NpmWorkerRequest): Promise<void> {
  const allow = (kind: string) => (request.allowSources.includes(kind) ? 'all' : 'none')
  const options = {
    ...request.options,
    path: request.directory,
    cache: request.cache,
    offline: request.offline,
    // Exact versions cannot be stale.
    preferOffline: request.locked !== null,
    ignoreScripts: true,
    installStrategy: 'hoisted',
    packageLock: false,
    audit: false,
    fund: false,
    omit: ['dev' as const],
    // The sandbox is Linux whatever this machine is.
    os: 'linux',
    libc: 'glibc',
    cpu: process.arch,
    allowGit: allow('git'),
    allowRemote: allow('url'),
    allowFile: allow('file'),
    allowDirectory: allow('file'),
    ...(request.locked && { packumentCache: createLockedPackuments(request.locked) }),
  }
  const arborist = new Arborist(options)
  await reply({ kind: 'stage', stage: 'solve' })
  const ideal = await arborist.buildIdealTree()
  const nodes = [...ideal.inventory.values()].filter((node) => !node.isRoot && !node.isLink)
  await reply({ kind: 'stage', stage: 'extract', packages: nodes.length })
  const actual = await arborist.reify({ save: false, omit: ['dev'] })
  // It repeats what the lockfile keeps, with this machine's registry in it.
  rmSync(join(request.directory, 'node_modules', '.package-lock.json'), { force: true })
  const present = [...actual.inventory.values()].filter((node) => !node.isRoot && !node.isLink)
  const installed = new Set(present.map((node) => node.packageName))
  const integrities = new Map(present.map((node) => [node.location, node.integrity]))
  await reply({
    kind: 'done',
    packages: nodes.map((node) => ({
      name: node.packageName,
      version: node.version,
      integrity: node.inBundle ? null : (node.integrity ?? integrities.get(node.location) ?? null),
    })),
    unbuilt: present.flatMap((node) => {
      const reason = node.optional ? undefined : findUnbuilt({ directory: node.path, manifest: { ...node.package }, installed })
      return reason === undefined ? [] : [{ name: node.packageName, version: node.version, reason }]
    }),
  })
}

function toFailure(error: unknown): NpmWorkerReply {
  const fields: { code?: unknown; message?: unknown; package?: unknown; spec?: unknown; pkgid?: unknown } =
    error instanceof Error ? error : {}
  const named = [fields.package, fields.spec, fields.pkgid].find((value) => typeof value === 'string')
  return {
    kind: 'failed',
    code: typeof fields.code === 'string' ? fields.code : 'EUNKNOWN',
    message: error instanceof Error ? error.message : String(error),
    package: typeof named === 'string' ? named : null,
  }
}

// The daemon's death ends the work: what is half done is scratch space.
process.once('disconnect', () => process.exit(1))
process.once('message', (request: NpmWorkerRequest) => {
  install(request)
    .catch((error: unknown) => reply(toFailure(error)))
    .finally(() => process.exit(0))
})
