import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const loader = JSON.stringify(join(import.meta.dirname, '../../../../sandbox/docker/loadDockerode.ts'))

/** In a process of its own: what this one has loaded says nothing. */
const run = async (program: string): Promise<unknown> => {
  const source = `const { loadDockerode } = await import(${loader}); const Dockerode = await loadDockerode()
    const { createRequire } = await import('node:module'); const require = createRequire(${loader})
    const isLoaded = (name) => Object.keys(require.cache).some((path) => path.includes('/node_modules/' + name + '/'))
    console.log(JSON.stringify(await (async () => { ${program} })()))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source])
  return JSON.parse(stdout)
}

test('neither SSH nor gRPC is loaded with dockerode', async () => {
  expect(await run(`return [typeof new Dockerode().listContainers, isLoaded('ssh2'), isLoaded('@grpc/grpc-js')]`)).toEqual([
    'function',
    false,
    false,
  ])
})

test('each is the real one once it is used', async () => {
  const program = `
    const agent = require('docker-modem/lib/ssh.js')({ host: 'nowhere.invalid' })
    const sessions = require('dockerode/lib/session.js')
    return [typeof agent.createConnection, isLoaded('ssh2'), typeof sessions]`
  expect(await run(program)).toEqual(['function', true, 'function'])
})
