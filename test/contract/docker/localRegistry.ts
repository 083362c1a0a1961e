import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A real image registry on loopback, which every engine trusts without TLS. */
export async function openLocalRegistry(): Promise<{ readonly address: string } & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'pkgd-registry-'))
  const port = await findFreePort()
  const config = join(directory, 'config.yml')
  await writeFile(
    config,
    `version: 0.1\nlog: { level: info }\nstorage: { filesystem: { rootdirectory: ${join(directory, 'data')} } }\nhttp: { addr: "127.0.0.1:${port}" }\n`,
  )
  const registry = spawn('docker-registry', ['serve', config], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(registry, 'exit')
  for await (const line of createInterface({ input: registry.stderr })) if (line.includes('listening on')) break
  registry.stderr.resume()
  return {
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      registry.kill()
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('No port was free')
  return address.port
}
