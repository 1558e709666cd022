import { http2Driver } from './drivers/http2.ts'
import { describeTransport } from './table.ts'

describeTransport(http2Driver)
