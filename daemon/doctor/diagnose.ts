import type { PackageStore } from '../../registry/store/packageStore.ts'
import type { ImageBuilder } from '../../sandbox/images/imageBuilder.ts'
import type { SandboxDriver } from '../../sandbox/sandboxDriver.ts'
import type { Doctor } from '../api/schemas/info.ts'
import type { Config } from '../config/config.ts'
import type { PkgdError } from '../core/errors.ts'
import type { Home } from '../core/home.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { State } from '../store/state.ts'
import { checkDriver, checkLimits, checkNetwork } from './checkDriver.ts'
import { checkConfig, checkDisk, checkLockfile, checkPermissions, checkState } from './checkHome.ts'
import { checkKeptData, checkPackages } from './checkPackages.ts'
import { checkRuntime } from './checkRuntime.ts'
import { describeDriver } from './describeDaemon.ts'

export interface DiagnoseDeps {
  readonly home: Home
  readonly state: Pick<State, 'restored'>
  readonly config: () => Config
  /** Why the configuration on disk is not the one in use. */
  readonly configProblem: () => PkgdError | null
  readonly driver: SandboxDriver
  readonly images: Pick<ImageBuilder, 'describe'>
  readonly store: Pick<PackageStore, 'verify'>
  readonly lifecycle: Pick<Lifecycle, 'list'>
}

/** Every check, from the ground up; none stops the others. */
export async function diagnose(deps: DiagnoseDeps): Promise<Doctor> {
  const { home, images } = deps
  const config = deps.config()
  const driver = await describeDriver(deps.driver)
  const checks = [
    await checkPermissions(home),
    await checkDisk(home),
    checkConfig(home, deps.configProblem()),
    await checkState(home, deps.state),
    await checkLockfile(home),
    checkDriver(driver),
    checkLimits(driver, config),
    checkNetwork(driver),
    ...(await Promise.all([checkRuntime(images, 'node', config), checkRuntime(images, 'python', config)])),
    ...(await checkPackages(deps)),
    ...(driver.state === 'ready' ? await checkKeptData(deps) : []),
  ]
  const worst = (['error', 'warning'] as const).find((status) => checks.some((check) => check.status === status))
  return { status: worst ?? 'ok', checks }
}
