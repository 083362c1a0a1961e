import { createRegistry, type Registry } from '../../registry/createRegistry.ts'
import type { ImageBuilder } from '../../sandbox/images/imageBuilder.ts'
import type { Config } from '../config/config.ts'
import type { Home } from '../core/home.ts'
import type { Clock } from '../core/ports.ts'
import { readPipConfig } from '../install/dependencies/pypi/readPipConfig.ts'

interface RegistryDeps {
  readonly home: Home
  readonly config: () => Config
  readonly images: ImageBuilder
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/** Where packages come from, as this home, its configuration and its user's npm and pip say. */
export function openRegistry({ home, config, images, env, clock }: RegistryDeps): Registry {
  const { archiveBytes, archiveEntries } = config().limits
  return createRegistry({
    store: home.store,
    cache: home.cache,
    tmp: home.tmp,
    limits: { archiveBytes, archiveEntries },
    registries: () => config().registries,
    readPipSources: () => readPipConfig(env),
    async pythonMinor() {
      const { runtimes } = await images.describe('python')
      const minor = /^3\.(\d+)/.exec(runtimes.python ?? '')?.[1]
      return minor === undefined ? null : Number(minor)
    },
    env,
    clock,
  })
}
