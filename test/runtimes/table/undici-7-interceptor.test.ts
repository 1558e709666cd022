import { undici7InterceptorDriver } from '../../../packages/core/test/transports/drivers/undici-7-interceptor.ts'
import { describeTransport } from '../../../packages/core/test/transports/table.ts'
import { here } from '../here.ts'

describeTransport(here(undici7InterceptorDriver))
