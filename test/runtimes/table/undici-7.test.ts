import { undici7Driver } from '../../../packages/core/test/transports/drivers/undici-7.ts'
import { describeTransport } from '../../../packages/core/test/transports/table.ts'
import { here } from '../here.ts'

describeTransport(here(undici7Driver))
