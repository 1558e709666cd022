import { undici8Http2Driver } from '../transports/drivers/undici-8-h2.ts'
import { describeTransport } from '../transports/table.ts'

describeTransport(undici8Http2Driver)
