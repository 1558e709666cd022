import { httpsAgent } from '../transports/drivers/https-agent.ts'
import { describeSigned } from './signed-table.ts'

describeSigned(httpsAgent)
