import { openNamedPipes } from '../../../sandbox/stdio/namedPipes.ts'
import { createMcpHarness } from '../../fixtures/servers/mcpHarness.ts'

/**
 * One life of a daemon, for tests that kill it: connects to the program whose pipes are in argv[2], prints its session, begins a call and waits for
 * its death. With `--half-line` it has half a message in the package's stdin by then.
 */
const [, , directory = '', ...flags] = process.argv
const harness = createMcpHarness({ idPrefix: 'first-life-' })
const program = { open: () => openNamedPipes(directory), signal: new AbortController().signal }
const { saved } = await harness.connect('demo', program)
const signal = new AbortController().signal
const call = harness.mcp.service.callTool('demo', 'big', { bytes: 3_000_000 }, { signal })
call.catch(() => undefined)
void harness.mcp.service.callTool('demo', 'slow', { ms: 300 }, { signal }).catch(() => undefined)
if (flags.includes('--half-line')) {
  const channel = await openNamedPipes(directory)
  channel.write('{"jsonrpc":"2.0","id":"half","method":"tools/ca')
}
process.stdout.write(`${JSON.stringify(saved())}\n`)
