import { httpsAgentDirect } from './drivers/https-agent-direct.ts'
import { describeTransport } from './table.ts'

describeTransport(httpsAgentDirect)
