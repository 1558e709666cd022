import { undici6Driver } from './drivers/undici-6.ts'
import { describeTransport } from './table.ts'

describeTransport(undici6Driver)
