import { clientNode2 } from '../transports/drivers/client-node-2.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(clientNode2, OF_EACH)
