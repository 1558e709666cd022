import { wsDriver } from '../transports/drivers/ws.ts'
import { describeOnVault } from '../transports/vault-table.ts'

describeOnVault(wsDriver)
