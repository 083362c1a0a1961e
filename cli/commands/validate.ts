import { resolve } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import { defineCommand } from '../command.ts'
import { formatError } from '../printError.ts'

export const validate = defineCommand({
  name: 'validate',
  summary: "check a folder's manifest, without a daemon",
  usage: ['validate [<folder>]'],
  arity: [0, 1],
  options: {},
  async run({ args: [folder = '.'], cwd }) {
    const { readManifest } = await import('../../registry/manifest/readManifest.ts')
    try {
      const { manifest, origin } = await readManifest(resolve(cwd, folder))
      const json = { valid: true, id: manifest.id, version: manifest.version, origin, issues: [] }
      return { json, text: `${manifest.id} ${manifest.version} (${manifest.type}): the manifest is valid` }
    } catch (error) {
      if (!(error instanceof PkgdError) || error.code !== 'MANIFEST_INVALID') throw error
      process.stderr.write(`${formatError(error)}\n`)
      return { json: { valid: false, id: null, version: null, origin: null, issues: error.issues }, text: '', exit: 5 }
    }
  },
})
