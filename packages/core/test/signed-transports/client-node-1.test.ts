import { clientNode1 } from '../transports/drivers/client-node-1.ts'
import { describeSigned, OF_EACH } from './signed-table.ts'

describeSigned(clientNode1, OF_EACH)
