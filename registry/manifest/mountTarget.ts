import { posix } from 'node:path'
import { findTouched, packageParts } from '../../daemon/core/mountTargets.ts'

/** Part of every image: a mount may go below them, never over them. */
const system = [
  '/',
  '/bin',
  '/boot',
  '/etc',
  '/home',
  '/lib',
  '/lib32',
  '/lib64',
  '/opt',
  '/root',
  '/run',
  '/sbin',
  '/usr',
  '/usr/bin',
  '/usr/lib',
  '/usr/local',
  '/usr/sbin',
  '/var',
]

/** Why a path in the sandbox cannot be a mount's target, or undefined when it can. */
export function checkMountTarget(target: string): string | undefined {
  if (!target.startsWith('/')) return 'must be an absolute path'
  if (/[\u0000-\u001f:,]/.test(target)) return 'must hold no control character, colon or comma'
  if (target !== '/' && posix.normalize(target).replace(/\/$/, '') !== target)
    return 'must be a plain path without "..", "." or doubled slashes'
  const conflict = findTouched(target, packageParts)
  if (conflict) return `must not touch ${conflict}, which belongs to the sandbox`
  if (system.includes(target)) return `must not cover ${target}, which belongs to the image`
  return undefined
}
