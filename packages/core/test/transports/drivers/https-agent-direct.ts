import type { Driver } from '../driver.ts'
import { openAgent } from './https-agent.ts'

const NO_RETRY = 'The direct variant hands the 401 back, and the next request has a new credential.'

/** `node:https` with our agent, its fast variant. */
export const httpsAgentDirect: Driver = {
  name: 'https.Agent, direct',
  cannot: {
    '401 once': NO_RETRY,
    'revoked mid-stream': NO_RETRY,
    'POST with a string': NO_RETRY,
    'POST with a Buffer': NO_RETRY,
    'POST with a stream': NO_RETRY,
    'server restart':
      "A connection that died unnoticed is the request's error, as with Node's own agent.",
  },
  open: async (cluster) => openAgent(cluster, { direct: true }),
}
