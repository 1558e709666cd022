import { http2Driver } from '../../../packages/core/test/transports/drivers/http2.ts'
import { describeTransport } from '../../../packages/core/test/transports/table.ts'
import { here } from '../here.ts'

describeTransport(here(http2Driver))
