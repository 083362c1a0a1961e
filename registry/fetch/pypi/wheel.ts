/** What a wheel's file name says (PEP 427). The name is normalized, tags are as in the file name. */
export interface WheelName {
  readonly name: string
  readonly version: string
  readonly pythons: readonly string[]
  readonly abis: readonly string[]
  readonly platforms: readonly string[]
}

/** A project's name in the one form in which names are compared (PEP 503). */
export const normalizeProjectName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-')

/** Undefined for what is no wheel. */
export function parseWheelName(file: string): WheelName | undefined {
  const [, name, version, pythons, abis, platforms] = /^([^-]+)-([^-]+)(?:-\d[^-]*)?-([^-]+)-([^-]+)-([^-]+)\.whl$/.exec(file) ?? []
  if (!name || !version || !pythons || !abis || !platforms) return undefined
  return {
    name: normalizeProjectName(name),
    version,
    pythons: pythons.split('.'),
    abis: abis.split('.'),
    platforms: platforms.split('.'),
  }
}

/** The Python that will run it. `minor` is null where that is not known: then any CPython 3 counts. */
export interface PythonTarget {
  readonly minor: number | null
  /** As Node names it. */
  readonly arch: string
}

const machines: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' }

/** How well a wheel fits a Linux with glibc: 0 for one that is pure Python, higher for one that was built, undefined for one that does not run there. Lower is preferred. */
export function rankWheel(wheel: WheelName, target: PythonTarget): number | undefined {
  const pure = wheel.platforms.includes('any')
  const machine = machines[target.arch] ?? target.arch
  const native = wheel.platforms.some((platform) => /^(many)?linux/.test(platform) && platform.endsWith(`_${machine}`))
  if (!pure && !native) return undefined
  const python = wheel.pythons.some((tag) => fitsPython(tag, wheel.abis, target))
  if (!python) return undefined
  return (pure ? 0 : 2) + (wheel.abis.includes('none') ? 0 : 1)
}

function fitsPython(tag: string, abis: readonly string[], { minor }: PythonTarget): boolean {
  const [, kind, digits = ''] = /^(py|cp)3(\d*)$/.exec(tag) ?? []
  if (kind === undefined) return false
  if (digits === '' || minor === null) return true
  // Pure and stable-ABI wheels run on every later minor version too.
  const lasting = kind === 'py' || abis.includes('abi3') || abis.includes('none')
  return lasting ? Number(digits) <= minor : Number(digits) === minor
}
