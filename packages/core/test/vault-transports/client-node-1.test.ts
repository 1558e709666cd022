import { clientNode1 } from '../transports/drivers/client-node-1.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(clientNode1, OF_EACH)
