import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

// Loaded where a document is checked, not where that could come to pass: ajv is 6 MB that an idle daemon does without.

/** ajv's class for JSON Schema 2020-12. */
export const loadAjv2020 = (): typeof import('ajv/dist/2020.js').Ajv2020 => require('ajv/dist/2020.js').Ajv2020

/** ajv's class for draft-07. */
export const loadAjv = (): typeof import('ajv').Ajv => require('ajv').Ajv

/** The formats of JSON Schema, as a plugin of ajv. */
export const loadAjvFormats = (): typeof import('ajv-formats').default => require('ajv-formats')
