import type { Logger } from '../../../daemon/core/ports.ts'

const nothing = () => undefined

export const silentLog: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silentLog }
