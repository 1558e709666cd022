import { httpsAgentDirect } from '../../../packages/core/test/transports/drivers/https-agent-direct.ts'
import { describeTransport } from '../../../packages/core/test/transports/table.ts'
import { here } from '../here.ts'

describeTransport(here(httpsAgentDirect))
