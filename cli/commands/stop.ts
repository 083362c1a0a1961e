import { defineCommand } from '../command.ts'
import { operate } from '../operate.ts'

export const stop = defineCommand({
  name: 'stop',
  summary: 'stop packages; they stay stopped until started',
  usage: ['stop <id>...'],
  arity: [1, 64],
  completes: 'package',
  options: {},
  run: (invocation) => operate('stop', invocation),
})
