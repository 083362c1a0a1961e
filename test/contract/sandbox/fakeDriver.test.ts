import { openFakeBench } from './fakeBench.ts'
import { sandboxDriverContract } from './sandboxDriverContract.ts'

sandboxDriverContract('fake', openFakeBench)
