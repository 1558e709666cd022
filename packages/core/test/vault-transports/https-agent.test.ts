import { httpsAgent } from '../transports/drivers/https-agent.ts'
import { describeOnVault } from '../transports/vault-table.ts'

describeOnVault(httpsAgent)
