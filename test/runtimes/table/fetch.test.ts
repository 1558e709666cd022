import { fetchDriver } from '../../../packages/core/test/transports/drivers/fetch.ts'
import { describeTransport } from '../../../packages/core/test/transports/table.ts'
import { here } from '../here.ts'

describeTransport(here(fetchDriver))
