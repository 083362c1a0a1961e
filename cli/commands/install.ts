import type { JobAccepted, JobResults } from '../../daemon/api/schemas/jobs.ts'
import type { InstallBody } from '../../daemon/api/schemas/packages.ts'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { Client } from '../client.ts'
import { defineCommand, type Terminal } from '../command.ts'
import { followJob, type JobOutcome, toAnswer } from '../followJob.ts'
import { checkName, toAbsoluteSpec, toEnv, toPermissions, toUnset } from '../installBody.ts'

export const install = defineCommand({
  name: 'install',
  summary: 'install a package from a folder, an archive, npm, PyPI, git, https or a registry',
  usage: ['install <spec> [options] [-- argument...]', 'install --frozen'],
  arity: [0, 1],
  takesRest: true,
  options: {
    yes: { type: 'boolean', short: 'y', description: "grant what the package asks for; never a mount's source" },
    start: { type: 'boolean', description: 'start it when it is installed' },
    frozen: { type: 'boolean', description: 'install exactly what pkgd.lock says; without a spec: all of it' },
    integrity: { type: 'string', value: '<sri>', description: 'what an https archive must hash to, e.g. sha512-…' },
    env: { type: 'string', multiple: true, value: 'NAME=value', description: 'a value for the package; may be repeated' },
    secret: { type: 'string', multiple: true, value: 'NAME', description: 'a value that is asked for, or read from stdin' },
    unset: { type: 'string', multiple: true, value: 'NAME', description: 'a value or secret of an earlier install to take away' },
    network: { type: 'string', multiple: true, value: 'none|internet|host:port', description: 'what it may reach, whatever it asks for' },
    mount: {
      type: 'string',
      multiple: true,
      value: 'src:dst[:ro]|none',
      description: 'a host path to give it, in place of all it had; may be repeated',
    },
    memory: { type: 'string', value: '256MB', description: 'memory limit, swap included' },
    cpus: { type: 'string', value: '0.5', description: 'CPU limit' },
    pids: { type: 'string', value: '128', description: 'limit of processes and threads' },
  },
  async run({ args: [spec], rest, options, cwd, client, terminal, signal }) {
    if (spec === undefined && !options.frozen) {
      throw new PkgdError('USAGE', 'install: what to install is missing', { hint: 'pkg install ./folder | npm:name | pypi:name' })
    }
    const permissions = toPermissions(options, cwd)
    const body: InstallBody = {
      ...(spec === undefined ? {} : { spec: toAbsoluteSpec(spec, cwd) }),
      ...(options.integrity ? { integrity: options.integrity } : {}),
      ...(rest.length > 0 ? { args: [...rest] } : {}),
      ...(options.env || options.unset ? { env: { ...toUnset(options.unset ?? []), ...toEnv(options.env ?? []) } } : {}),
      ...(options.secret ? { secrets: await askSecrets(options.secret, terminal) } : {}),
      ...(permissions ? { permissions } : {}),
      ...(options.frozen ? { frozen: true } : {}),
      consent: options.yes === true,
      start: options.start === true,
    }
    return toAnswer(await submit(client, terminal, body, signal), ({ result }) => ({
      text: describe(result as JobResults['install'] | JobResults['install-locked']),
    }))
  },
})

/** Submits it; when the package asks for more than the default sandbox and someone is there to ask, asks. */
async function submit(client: Client, terminal: Terminal, body: InstallBody, signal: AbortSignal): Promise<JobOutcome> {
  const follow = async (request: InstallBody) =>
    followJob(client, terminal, await client.post<JobAccepted>('/v1/packages', request, { signal }), signal)
  const first = await follow(body)
  if (first.error?.code !== 'CONSENT_REQUIRED' || !terminal.interactive) return first
  terminal.note(`${first.error.message}:`)
  for (const issue of first.error.issues) terminal.note(`  ${issue.message}`)
  return (await terminal.confirm('Grant this?')) ? follow({ ...body, consent: true }) : first
}

async function askSecrets(names: readonly string[], terminal: Terminal): Promise<Record<string, string>> {
  if (!terminal.interactive && names.length > 1) {
    throw new PkgdError('USAGE', 'Only one --secret can be read from stdin', { hint: 'install from a terminal, or give one at a time' })
  }
  const secrets: Record<string, string> = {}
  for (const name of names) checkName('--secret', name)
  for (const name of names) secrets[name] = await terminal.readSecret(name)
  return secrets
}

function describe(result: JobResults['install'] | JobResults['install-locked']): string {
  const lines = (Array.isArray(result) ? result : [result]).flatMap(({ package: view, installed, unchanged, kept }) => {
    const others = installed.filter((id) => id !== view.id)
    return [
      unchanged.includes(view.id) ? `${view.id} ${view.version} was installed already` : `Installed ${view.id} ${view.version}`,
      ...(others.length > 0 ? [`with what it needs: ${others.join(', ')}`] : []),
      ...(kept.length > 0 ? [`kept from before: ${kept.join(', ')}`] : []),
      view.state === 'running' ? `It is running` : `Start it with: pkg start ${view.id}`,
    ]
  })
  return lines.length > 0 ? lines.join('\n') : 'The lockfile names no package.'
}
