import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * What dockerode loads and a daemon never needs: SSH, which engines are not reached by, and gRPC, for sessions of BuildKit. Together they are 15 MB.
 * In the place of each is put a stand-in, which loads it at its first use.
 */
const standIns: Readonly<Record<string, string>> = {
  ssh2: '{ Client: function (...given) { return new (load().Client)(...given) } }',
  '@grpc/grpc-js': 'new Proxy({}, { get: (_, key) => load()[key] })',
  '@grpc/proto-loader': 'new Proxy({}, { get: (_, key) => load()[key] })',
}

const scheme = 'pkgd-stand-in:'

function toSource(url: string): string {
  const [specifier = '', path = ''] = url.slice(scheme.length).split('?').map(decodeURIComponent)
  return `const load = () => require(${JSON.stringify(path)})\nmodule.exports = ${standIns[specifier]}`
}

/** dockerode without the weight of what is not used. */
export async function loadDockerode() {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const real = next(specifier, context)
      if (!Object.hasOwn(standIns, specifier) || !context.parentURL?.includes('/node_modules/docker')) return real
      const path = fileURLToPath(real.url)
      return { url: `${scheme}${encodeURIComponent(specifier)}?${encodeURIComponent(path)}`, format: 'commonjs', shortCircuit: true }
    },
    load: (url, context, next) =>
      url.startsWith(scheme) ? { format: 'commonjs', source: toSource(url), shortCircuit: true } : next(url, context),
  })
  try {
    const { default: Dockerode } = await import('dockerode')
    return Dockerode
  } finally {
    hooks.deregister()
  }
}
