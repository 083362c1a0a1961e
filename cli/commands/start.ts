import { defineCommand } from '../command.ts'
import { operate } from '../operate.ts'

export const start = defineCommand({
  name: 'start',
  summary: 'start installed packages, after what they depend on',
  usage: ['start <id>...'],
  arity: [1, 64],
  completes: 'package',
  options: {},
  run: (invocation) => operate('start', invocation),
})
