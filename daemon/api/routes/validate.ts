import { interpretPackageJson } from '../../../registry/manifest/readManifest.ts'
import { findCoded } from '../../core/errors.ts'
import type { Api } from '../api.ts'
import { ValidateBody, ValidateResult } from '../schemas/validate.ts'

export function registerValidate(app: Api): void {
  const schema = {
    operationId: 'validateManifest',
    summary: 'Whether a package.json is a manifest: every issue at once',
    tags: ['packages'],
    body: ValidateBody,
    response: { 200: ValidateResult },
  }
  app.post('/v1/validate', { schema }, ({ body }) => {
    try {
      const { manifest, origin } = interpretPackageJson(body.manifest, 'package.json')
      return { valid: true, id: manifest.id, version: manifest.version, origin, issues: [] }
    } catch (error) {
      const coded = findCoded(error)
      if (!coded) throw error
      const issues = coded.issues.length > 0 ? [...coded.issues] : [{ pointer: '', message: coded.message }]
      return { valid: false, id: null, version: null, origin: null, issues }
    }
  })
}
