import { httpsAgentDirect } from '../transports/drivers/https-agent-direct.ts'
import { describeSigned, OF_EACH } from './signed-table.ts'

describeSigned(httpsAgentDirect, OF_EACH)
