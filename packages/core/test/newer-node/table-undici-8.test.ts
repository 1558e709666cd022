import { undici8Driver } from '../transports/drivers/undici-8.ts'
import { describeTransport } from '../transports/table.ts'

describeTransport(undici8Driver)
