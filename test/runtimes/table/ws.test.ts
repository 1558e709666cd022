import { wsDriver } from '../../../packages/core/test/transports/drivers/ws.ts'
import { describeTransport } from '../../../packages/core/test/transports/table.ts'
import { here } from '../here.ts'

describeTransport(here(wsDriver))
