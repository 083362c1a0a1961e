import type { LaunchSpec, SandboxHandle } from '../../../sandbox/sandboxDriver.ts'
import type { ContractProgram, DriverBench } from './driverBench.ts'

/** What a part of the contract is given. */
export interface ContractKit {
  readonly bench: () => DriverBench
  /** Launches a program; whatever is left of it after the test is destroyed. */
  start(command: readonly [ContractProgram, ...string[]], changes?: Partial<LaunchSpec>): Promise<SandboxHandle>
}
