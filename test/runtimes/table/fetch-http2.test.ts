import { fetchHttp2Driver } from '../../../packages/core/test/transports/drivers/fetch-http2.ts'
import { describeTransport } from '../../../packages/core/test/transports/table.ts'
import { here } from '../here.ts'

describeTransport(here(fetchHttp2Driver))
