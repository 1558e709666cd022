import { httpsAgentDirect } from '../transports/drivers/https-agent-direct.ts'
import { describeOnVault } from '../transports/vault-table.ts'

describeOnVault(httpsAgentDirect)
