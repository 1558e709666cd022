import { clientNode1 } from './drivers/client-node-1.ts'
import { describeTransport } from './table.ts'

describeTransport(clientNode1)
