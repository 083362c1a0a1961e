import { once } from 'node:events'
import { type ChannelAddress, openChannel } from './rigs.ts'

/** Opens the channel at argv[2] (JSON), has a line answered, then begins one that it never ends and waits to be killed. */
const address = JSON.parse(process.argv[2] ?? '') as ChannelAddress
const channel = await openChannel(address)
channel.write('first of the dead one\n')
const [answer] = await once(channel, 'data')
await new Promise<void>((resolve, reject) => channel.write('{"half":"a li', (error) => (error ? reject(error) : resolve())))
process.stdout.write(answer)
setInterval(() => {}, 60_000)
