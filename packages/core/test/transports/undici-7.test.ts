import { undici7Driver } from './drivers/undici-7.ts'
import { describeTransport } from './table.ts'

describeTransport(undici7Driver)
