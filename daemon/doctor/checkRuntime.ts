import type { ImageBuilder } from '../../sandbox/images/imageBuilder.ts'
import type { Check } from '../api/schemas/info.ts'
import type { Config } from '../config/config.ts'
import { toPkgdError } from '../core/errors.ts'

const names = { node: 'Node', python: 'Python' } as const
type Runtime = keyof typeof names

const nameOf = (runtime: string): string => (Object.hasOwn(names, runtime) ? names[runtime as Runtime] : runtime)

/** What packages of a runtime run on: the operator's image, or one made from this host's own. */
export async function checkRuntime(images: Pick<ImageBuilder, 'describe'>, runtime: Runtime, config: Config): Promise<Check> {
  const check = { id: `runtime.${runtime}`, title: `${names[runtime]} packages` }
  const image = config.images[runtime]
  if (image !== undefined) return { ...check, status: 'ok', detail: `run on the image ${image}, by pkgd.yaml` }
  try {
    const { runtimes } = await images.describe(runtime)
    const { [runtime]: own, ...others } = runtimes
    const besides = Object.entries(others).map(([name, version]) => `${nameOf(name)} ${version}`)
    const detail = `run on ${names[runtime]} ${own ?? "of the distribution's own packages"}${besides.length > 0 ? `, with ${besides.join(', ')} beside it` : ''}`
    return { ...check, status: 'ok', detail }
  } catch (error) {
    const { message, hint } = toPkgdError(error)
    return { ...check, status: 'warning', detail: message, ...(hint === undefined ? {} : { hint }) }
  }
}
