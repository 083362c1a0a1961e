import type { MountGrant } from '../../daemon/core/types.ts'
import type { VolumeRef } from '../sandboxDriver.ts'
import type { ContainerMount } from './containerSpec.ts'

export const toBindMount = (grant: MountGrant): ContainerMount => ({ kind: 'bind', ...grant })

export const toDataMount = (volume: VolumeRef): ContainerMount => ({
  kind: volume.path === null ? 'volume' : 'bind',
  source: volume.path ?? volume.name,
  target: '/data',
  readOnly: false,
})
