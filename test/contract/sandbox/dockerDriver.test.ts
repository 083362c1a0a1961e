import { describe } from 'vitest'
import { missing } from '../../provision/requirements.ts'
import { openDockerBench } from './dockerBench.ts'
import { sandboxDriverContract } from './sandboxDriverContract.ts'

const reason = await missing('docker', 'root')

describe.skipIf(reason !== null)(`docker${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  sandboxDriverContract('docker, named pipes', () => openDockerBench('auto'))
  sandboxDriverContract('docker, engine attach', () => openDockerBench('attach'))
  sandboxDriverContract('docker, an engine apart', () => openDockerBench('auto', { disk: 'apart' }))
})
