import { describeSigned, OF_EACH } from '../signed-transports/signed-table.ts'
import { clientNode2 } from '../transports/drivers/client-node-2.ts'

describeSigned(clientNode2, OF_EACH)
