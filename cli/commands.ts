import type { Command } from './command.ts'

/** Every command by name, loaded only when it is the one that runs. */
const commands = {
  install: async () => (await import('./commands/install.ts')).install,
  uninstall: async () => (await import('./commands/uninstall.ts')).uninstall,
  start: async () => (await import('./commands/start.ts')).start,
  stop: async () => (await import('./commands/stop.ts')).stop,
  restart: async () => (await import('./commands/restart.ts')).restart,
  list: async () => (await import('./commands/list.ts')).list,
  info: async () => (await import('./commands/info.ts')).info,
  logs: async () => (await import('./commands/logs.ts')).logs,
  stats: async () => (await import('./commands/stats.ts')).stats,
  search: async () => (await import('./commands/search.ts')).search,
  validate: async () => (await import('./commands/validate.ts')).validate,
  tools: async () => (await import('./commands/tools.ts')).tools,
  call: async () => (await import('./commands/call.ts')).call,
  resources: async () => (await import('./commands/resources.ts')).resources,
  prompts: async () => (await import('./commands/prompts.ts')).prompts,
  events: async () => (await import('./commands/events.ts')).events,
  jobs: async () => (await import('./commands/jobs.ts')).jobs,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  daemon: async () => (await import('./commands/daemon.ts')).daemon,
  completion: async () => (await import('./commands/completion.ts')).completion,
} satisfies Record<string, () => Promise<unknown>>

export const commandNames: readonly string[] = Object.keys(commands)

/** The command of that name, or undefined. Its options are typed inside its own file; here they are parsed by its own declaration. */
export async function loadCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(commands, name) ? ((await commands[name as keyof typeof commands]()) as Command) : undefined
}
