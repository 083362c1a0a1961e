import { createHash } from 'node:crypto'
import { parseSpec } from '../../registry/resolve/parseSpec.ts'
import { toCanonicalJson } from '../core/canonicalJson.ts'
import { PkgdError } from '../core/errors.ts'
import type { JobRequest } from '../jobs/jobRunner.ts'
import type { ApiDeps } from './api.ts'
import type { JobResults } from './schemas/jobs.ts'
import type { InstallBody } from './schemas/packages.ts'
import { toInstallRequest } from './toInstallRequest.ts'
import { toInstallView, toPackageView } from './toPackageView.ts'

type PackageJobs = {
  install(body: InstallBody): JobRequest<JobResults['install'] | JobResults['install-locked']>
  uninstall(id: string, purge: boolean): Promise<JobRequest<JobResults['uninstall']>>
  start(id: string): JobRequest<JobResults['start']>
  stop(id: string): JobRequest<JobResults['stop']>
  restart(id: string): JobRequest<JobResults['restart']>
}

/** A key that two like requests share and that tells nothing of the secrets in them. */
const keyOf = (kind: string, request: unknown) => `${kind}:${createHash('sha256').update(toCanonicalJson(request)).digest('hex')}`

/** The long operations on packages as jobs. What can be known to be wrong at once is thrown here, before there is a job. */
export function createPackageJobs({ lifecycle, installer }: Pick<ApiDeps, 'lifecycle' | 'installer'>): PackageJobs {
  const lifecycleJob = (kind: 'start' | 'stop' | 'restart') => (id: string) => {
    lifecycle.get(id)
    return {
      kind,
      subject: id,
      key: `${kind}:${id}`,
      run: async (context: Parameters<typeof lifecycle.start>[1]) => toPackageView(await lifecycle[kind](id, context)),
    }
  }
  return {
    start: lifecycleJob('start'),
    stop: lifecycleJob('stop'),
    restart: lifecycleJob('restart'),
    install(body) {
      const request = toInstallRequest(body)
      if (request === null) {
        const rest = { consent: body.consent ?? false, start: body.start ?? false }
        return {
          kind: 'install',
          subject: 'pkgd.lock',
          key: keyOf('install-locked', rest),
          run: async (context) => (await installer.installLocked(rest, context)).map(toInstallView),
        }
      }
      const source = parseSpec(request.spec, '/', request.integrity)
      if ((source.kind === 'folder' || source.kind === 'archive') && !/^(\/|file:)/.test(request.spec)) {
        throw new PkgdError('SPEC_INVALID', `${request.spec} is a relative path`, {
          hint: 'the daemon has no folder of yours: give the whole path',
        })
      }
      return {
        kind: 'install',
        subject: request.spec,
        key: keyOf('install', request),
        run: async (context) => toInstallView(await installer.install(request, context)),
      }
    },
    async uninstall(id, purge) {
      // Purging also removes what an earlier uninstall kept.
      const known = lifecycle.list().some(({ record }) => record.id === id) || (purge && (await installer.keepsData(id)))
      if (!known) lifecycle.get(id)
      return {
        kind: 'uninstall',
        subject: id,
        key: `uninstall:${id}:${purge}`,
        run: (context) => installer.uninstall(id, { purge }, context),
      }
    },
  }
}
