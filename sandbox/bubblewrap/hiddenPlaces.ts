import { stat } from 'node:fs/promises'
import { hasCode } from '../../daemon/core/errors.ts'

/** Places that a sandbox has empty: a file reads as /dev/null does, a directory holds nothing. */
export interface HiddenPlaces {
  readonly files: readonly string[]
  readonly directories: readonly string[]
}

/**
 * What container engines mask by default (moby, oci/defaults.go); of /sys a sandbox has nothing at all. The rest of /proc that is not per process (bus, irq,
 * sys, sysrq-trigger) bwrap makes read-only by itself.
 */
const masked = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/fs',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
]

/** Those of them that this kernel has. */
export async function findHiddenPlaces(): Promise<HiddenPlaces> {
  const kinds = await Promise.all(masked.map(async (path) => ({ path, isDirectory: await isDirectory(path) })))
  return {
    files: kinds.filter((found) => found.isDirectory === false).map(({ path }) => path),
    directories: kinds.filter((found) => found.isDirectory === true).map(({ path }) => path),
  }
}

/** Null for what is not there. */
async function isDirectory(path: string): Promise<boolean | null> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}
