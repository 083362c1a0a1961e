import { execa } from 'execa'
import { PkgdError } from '../../daemon/core/errors.ts'
import {
  type Change,
  type HeldRules,
  type InterfaceRules,
  isWhole,
  listGuarded,
  type Masquerade,
  parseSaved,
  planFilter,
  planNat,
} from './ruleset.ts'

/** This daemon's part of the host's packet filter. Calls are one after another; each is one transaction a table. */
export interface Iptables {
  /** Why it cannot be used here, or null. */
  unavailable(): Promise<string | null>
  set(rules: InterfaceRules, masquerade: Masquerade | null): Promise<void>
  remove(interfaces: readonly string[]): Promise<void>
  /** Puts back what was set here and is no longer there, jumps to our chains included. Resolves with the interfaces that were not held. */
  reassert(): Promise<string[]>
  listGuarded(): Promise<string[]>
}

/** Daemons are often started with a PATH without the system's directories. */
const environment = { PATH: `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`, LC_ALL: 'C' }

export function createIptables(daemonId: string): Iptables {
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work)
    last = result.catch(() => undefined)
    return result
  }

  const held = new Map<string, HeldRules>()

  /** Whether anything had to be changed. */
  const change = async (filter: Change<InterfaceRules>, nat: Change<Masquerade>) => {
    const changed = await apply('filter', (saved) => planFilter(saved, daemonId, filter))
    return (await apply('nat', (saved) => planNat(saved, daemonId, nat))) || changed
  }
  const setRules = ({ rules, masquerade }: HeldRules) =>
    change({ set: rules }, masquerade ? { set: masquerade } : { remove: [rules.interface] })

  return {
    async unavailable() {
      try {
        await save('filter')
        await save('nat')
        return null
      } catch (error) {
        return `iptables does not work here: ${toReason(error)}`
      }
    },
    set: (rules, masquerade) =>
      inTurn(async () => {
        await setRules({ rules, masquerade })
        held.set(rules.interface, { rules, masquerade })
      }),
    remove: (interfaces) =>
      inTurn(async () => {
        for (const name of interfaces) held.delete(name)
        await change({ remove: interfaces }, { remove: interfaces })
      }),
    reassert: () =>
      inTurn(async () => {
        const [filter, nat] = [await save('filter'), await save('nat')]
        const lost = [...held.values()].filter((rules) => !isWhole(filter, nat, daemonId, rules))
        for (const rules of lost) await setRules(rules)
        // A jump that is missing or out of its place concerns every interface.
        const moved = await change({ keep: true }, { keep: true })
        return moved ? [...held.keys()] : lost.map(({ rules }) => rules.interface)
      }),
    listGuarded: () =>
      inTurn(async () => [...new Set([...listGuarded(await save('filter'), daemonId), ...listGuarded(await save('nat'), daemonId)])]),
  }
}

async function save(table: 'filter' | 'nat') {
  const { stdout } = await execa('iptables-save', ['-t', table], { env: environment })
  return parseSaved(stdout)
}

/** The plan is made from what is there; when another program changed it in between, it is made once more. Resolves with whether there was anything to do. */
async function apply(table: 'filter' | 'nat', plan: (saved: Awaited<ReturnType<typeof save>>) => string | null): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const input = plan(await save(table))
    if (input === null) return false
    const { failed, stderr } = await execa('iptables-restore', ['-w', '10', '--noflush'], { input, env: environment, reject: false })
    if (!failed) return true
    if (attempt === 3) throw new PkgdError('NETWORK_UNSUPPORTED', `iptables-restore refused the rules of a package: ${stderr.trim()}`)
  }
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'shortMessage' in error ? String(error.shortMessage) : error.message
}
