import { clientNode2 } from '../transports/drivers/client-node-2.ts'
import { describeTransport } from '../transports/table.ts'

describeTransport(clientNode2)
