import { defineConfig } from 'vitest/config'

/** One project a rung of the ladder; `node test/run.ts` runs them all and says what cannot run here. */
const project = (name: string, options: { timeout?: number; serial?: boolean } = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: options.timeout ?? 10_000,
    hookTimeout: options.timeout ?? 10_000,
    pool: 'forks' as const,
    fileParallelism: !options.serial,
  },
})

export default defineConfig({
  test: {
    projects: [
      project('unit'),
      project('architecture'),
      project('contract', { timeout: 60_000, serial: true }),
      project('api', { timeout: 30_000 }),
      project('e2e', { timeout: 180_000, serial: true }),
      project('chaos', { timeout: 180_000, serial: true }),
      project('conformance', { timeout: 180_000, serial: true }),
    ],
    coverage: { provider: 'v8', include: ['registry/**', 'sandbox/**', 'daemon/**'], reporter: ['text-summary', 'json-summary'] },
  },
})
