import { defineCommand } from '../command.ts'
import { operate } from '../operate.ts'

export const restart = defineCommand({
  name: 'restart',
  summary: 'stop and start packages',
  usage: ['restart <id>...'],
  arity: [1, 64],
  completes: 'package',
  options: {},
  run: (invocation) => operate('restart', invocation),
})
