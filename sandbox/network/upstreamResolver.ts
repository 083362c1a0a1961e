import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { readFile } from 'node:fs/promises'
import { connect, isIP, isIPv6 } from 'node:net'
import { hasCode } from '../../daemon/core/errors.ts'
import { isResponseTo, type Question } from './dnsMessage.ts'
import { createLengthFrames, toLengthFrame } from './dnsOverTcp.ts'

export type Transport = 'udp' | 'tcp'

/** Asks the resolvers in turn, each within `timeoutMs`; the first reply that answers this question, or undefined. The reply has the query's id. */
export async function askResolvers(
  query: Buffer,
  question: Question,
  options: { readonly resolvers: readonly string[]; readonly transport: Transport; readonly timeoutMs: number },
): Promise<Buffer | undefined> {
  // The package chose the id of its query; what leaves the host gets one that it cannot know, from a port of its own.
  const disguised = Buffer.from(query)
  disguised.writeUInt16BE(randomInt(0x10000), 0)
  for (const resolver of options.resolvers) {
    const ask = options.transport === 'udp' ? askOverUdp : askOverTcp
    const reply = await ask(disguised, resolver, options.timeoutMs, (candidate) => isResponseTo(candidate, disguised, question))
    if (!reply) continue
    const answer = Buffer.from(reply)
    answer.writeUInt16BE(question.id, 0)
    return answer
  }
  return undefined
}

type Accept = (reply: Buffer) => boolean

function askOverUdp(query: Buffer, resolver: string, timeoutMs: number, accept: Accept): Promise<Buffer | undefined> {
  const { host, port } = parseResolver(resolver)
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    const settle = (reply: Buffer | undefined) => {
      clearTimeout(timer)
      socket.removeAllListeners()
      // An error after this point has nobody to go to.
      socket.on('error', () => undefined)
      socket.close()
      resolve(reply)
    }
    const timer = setTimeout(() => settle(undefined), timeoutMs)
    socket.on('error', () => settle(undefined))
    socket.on('message', (reply) => accept(reply) && settle(reply))
    // Connected: the kernel passes on what comes from this resolver alone.
    socket.connect(port, host, () => socket.send(query))
  })
}

function askOverTcp(query: Buffer, resolver: string, timeoutMs: number, accept: Accept): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = connect(parseResolver(resolver))
    const frames = createLengthFrames()
    const settle = (reply: Buffer | undefined) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(reply)
    }
    const timer = setTimeout(() => settle(undefined), timeoutMs)
    socket.on('error', () => settle(undefined))
    socket.on('close', () => settle(undefined))
    socket.on('connect', () => socket.write(toLengthFrame(query)))
    socket.on('data', (chunk) => {
      for (const reply of frames(chunk)) if (accept(reply)) return settle(reply)
    })
  })
}

/** `1.1.1.1`, `1.1.1.1:5353`, `fd00::1` or `[fd00::1]:5353`. */
function parseResolver(text: string): { host: string; port: number } {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text)
  if (bracketed) return { host: bracketed[1] ?? '', port: Number(bracketed[2] ?? 53) }
  if (isIPv6(text)) return { host: text, port: 53 }
  const [host = '', port = '53'] = text.split(':')
  return { host, port: Number(port) }
}

/** The name servers of a resolv.conf. */
export const parseResolvConf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => /^\s*nameserver\s+([^\s#;%]+)/.exec(line)?.[1] ?? '')
    .filter((address) => isIP(address) !== 0)

/** The host's own resolvers; none when it has no resolv.conf. */
export async function readHostResolvers(path = '/etc/resolv.conf'): Promise<string[]> {
  try {
    return parseResolvConf(await readFile(path, 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
