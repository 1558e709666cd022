import { fetchHttp2Driver } from './drivers/fetch-http2.ts'
import { describeTransport } from './table.ts'

describeTransport(fetchHttp2Driver)
