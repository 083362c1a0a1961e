import type { Reporter, TestModule } from 'vitest/node'

/**
 * Counts what ran and keeps why a test was skipped. `close` prints the skipped ones grouped by reason and, last, `N passed, N failed, N skipped`;
 * it returns the exit code: 1 when anything failed, when a module could not be loaded, or when nothing ran at all.
 */
export function createTallyReporter(): { reporter: Reporter; close(say: (line: string) => void): number } {
  let passed = 0
  let failed = 0
  let skipped = 0
  const skips = new Map<string, string[]>()
  const broken: string[] = []

  const count = (module: TestModule) => {
    if (module.errors().length > 0) broken.push(`${module.relativeModuleId}: ${module.errors()[0]?.message ?? 'cannot be loaded'}`)
    for (const test of module.children.allTests()) {
      const result = test.result()
      if (result.state === 'passed') passed++
      else if (result.state === 'failed') failed++
      else {
        skipped++
        const reason = (result.state === 'skipped' ? result.note : undefined) ?? reasonInName(test.fullName) ?? 'no reason given'
        skips.set(reason, [...(skips.get(reason) ?? []), `${module.relativeModuleId} > ${test.fullName}`])
      }
    }
  }

  return {
    reporter: {
      onTestRunEnd(modules, unhandled) {
        for (const module of modules) count(module)
        for (const error of unhandled) broken.push(error.message)
      },
    },
    close(say) {
      for (const line of broken) say(`broken: ${line}`)
      for (const [reason, tests] of skips) {
        say(`skipped, ${reason}:`)
        for (const test of tests) console.log(`  - ${test}`)
      }
      failed += broken.length
      console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
      return failed > 0 || passed === 0 ? 1 : 0
    },
  }
}

/** A suite that cannot run here names its reason in its title: `docker driver [no container engine answers]`, or `(skipped: …)`. */
function reasonInName(name: string): string | undefined {
  return (/\[([^\]]+)\]/.exec(name) ?? /\(skipped: (.+?)\)/.exec(name))?.[1]
}
