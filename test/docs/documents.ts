import { cliDocument } from './cliDocument.ts'
import { errorsDocument } from './errorsDocument.ts'

/** The documents that are generated, by path from the repository's root. */
export const documents: readonly { readonly path: string; readonly render: () => string | Promise<string> }[] = [
  { path: 'docs/errors.md', render: () => errorsDocument() },
  { path: 'docs/cli.md', render: cliDocument },
]
