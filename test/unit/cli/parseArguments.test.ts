import { describe, expect, it } from 'vitest'
import { install } from '../../../cli/commands/install.ts'
import { list } from '../../../cli/commands/list.ts'
import { commandNames, loadCommand } from '../../../cli/commands.ts'
import { commandHelp, overview } from '../../../cli/help.ts'
import { parseArguments } from '../../../cli/parseArguments.ts'

describe('parseArguments', () => {
  it('takes options, repeated ones, and what stands after --', async () => {
    const parsed = await parseArguments(install, ['npm:x', '-y', '--env', 'A=1', '--env', 'B=2', '--', '--flag', '/docs'])
    expect(parsed).toEqual({
      args: ['npm:x'],
      rest: ['--flag', '/docs'],
      options: expect.objectContaining({ yes: true, env: ['A=1', 'B=2'] }),
    })
  })
  it.each([
    [['--yess'], 'did you mean --yes?'],
    [['--memry', '1GB'], 'did you mean --memory?'],
  ])('%j hints %s', async (argv, hint) => expect(parseArguments(install, argv)).rejects.toMatchObject({ code: 'USAGE', hint }))
  it('refuses one argument too many and names it', async () =>
    expect(parseArguments(list, ['extra'])).rejects.toMatchObject({ code: 'USAGE', message: 'list: one argument too many: extra' }))
  it('refuses -- where it means nothing', async () => expect(parseArguments(list, ['--', 'x'])).rejects.toMatchObject({ code: 'USAGE' }))
})

describe('commands', () => {
  it.each(commandNames)('%s is named after its file and explains each option', async (name) => {
    const command = await loadCommand(name)
    expect(command?.name).toBe(name)
    const help = command && commandHelp(command)
    for (const option of Object.keys(command?.options ?? {})) expect(help).toContain(`--${option}`)
  })
  it('are all in the overview', async () => {
    const text = await overview()
    for (const name of commandNames) expect(text).toContain(`  ${name} `)
  })
})
