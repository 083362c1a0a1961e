import type { Limits } from '../../daemon/core/types.ts'

/** What a container engine gives by default. */
const mostBytes = 64 * 1024 * 1024

/** The size of /dev/shm: it is writable as /tmp is, and no way around that limit. */
export const toSharedMemoryBytes = ({ tmpBytes }: Pick<Limits, 'tmpBytes'>): number => Math.min(tmpBytes, mostBytes)
