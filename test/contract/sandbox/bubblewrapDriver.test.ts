import { describe } from 'vitest'
import { missing } from '../../provision/requirements.ts'
import { openBubblewrapBench } from './bubblewrapBench.ts'
import { sandboxDriverContract } from './sandboxDriverContract.ts'

const reason = await missing('bubblewrap', 'root')

describe.skipIf(reason !== null)(`bubblewrap${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  sandboxDriverContract('bubblewrap', openBubblewrapBench)
})
