import { writeFile } from 'node:fs/promises'
import { documents } from './docs/documents.ts'

/** `npm run docs`: writes the documents that are generated. The unit tests check that they are up to date. */
for (const { path, render } of documents) {
  await writeFile(new URL(`../${path}`, import.meta.url), await render())
  console.log(`wrote ${path}`)
}
