import { readFile } from 'node:fs/promises'
import tls from 'node:tls'
import { PkgdError } from '../../../daemon/core/errors.ts'
import type { NetworkOptions } from './httpExchange.ts'

/**
 * Certificates to trust besides Node's own set (which holds NODE_EXTRA_CA_CERTS): those that npm or pip were told of, SSL_CERT_FILE's and, when asked for, the system's.
 * Undefined when there are none: then Node's own, shared context is used.
 */
export async function readTrust(
  env: Readonly<Record<string, string | undefined>>,
  network: NetworkOptions,
  also: { readonly system: boolean },
): Promise<{ readonly secureContext: tls.SecureContext } | undefined> {
  const files = new Set([network.caFile, env.SSL_CERT_FILE].filter((file) => typeof file === 'string' && file !== env.NODE_EXTRA_CA_CERTS))
  const given = [...(network.ca ?? [])]
  for (const file of files) if (file) given.push(await readBundle(file))
  if (also.system) given.push(...tls.getCACertificates('system'))
  if (given.length === 0) return undefined
  return { secureContext: tls.createSecureContext({ ca: [...tls.getCACertificates('default'), ...given] }) }
}

async function readBundle(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new PkgdError('REGISTRY_UNREACHABLE', `The CA bundle ${file} cannot be read`, {
      hint: 'correct cafile in ~/.npmrc, cert in pip.conf or SSL_CERT_FILE',
      cause: error,
    })
  }
}

const certificateErrors = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

export const isCertificateError = (error: unknown): boolean =>
  error instanceof Error && certificateErrors.has(String((error as NodeJS.ErrnoException).code))
