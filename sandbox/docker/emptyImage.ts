import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { create } from 'tar'
import type { EngineApi } from './engineApi.ts'

/** An image with nothing in it, for containers that are made and never started. Gone when `use` has ended. */
export async function withEmptyImage<T>(api: EngineApi, label: string, use: (reference: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'pkgd-empty-'))
  const repository = 'pkgd/empty'
  const tag = randomBytes(6).toString('hex')
  try {
    const tar = Readable.from(create({ cwd: directory }, ['.']), { objectMode: false })
    await api.importImage(tar, { repository, tag, changes: [`LABEL ${label}`] }, AbortSignal.timeout(30_000))
    return await use(`${repository}:${tag}`)
  } finally {
    await api.removeImage(`${repository}:${tag}`)
    await rm(directory, { recursive: true, force: true })
  }
}
