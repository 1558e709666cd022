import { httpsAgent } from './drivers/https-agent.ts'
import { describeTransport } from './table.ts'

describeTransport(httpsAgent)
