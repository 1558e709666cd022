import { clientNode1 } from '../../../packages/core/test/transports/drivers/client-node-1.ts'
import { describeTransport } from '../../../packages/core/test/transports/table.ts'
import { here } from '../here.ts'

describeTransport(here(clientNode1))
