import type { Driver } from '../driver.ts'
import { openAgent } from './https-agent.ts'

const NO_RETRY = 'The direct variant hands the 401 back, and the next request has a new credential.'

/** `node:https` with our agent, its fast variant. */
export const httpsAgentDirect: Driver = {
  name: 'https.Agent, direct',
  tellsErrors: 'as it is',
  cannot: {
    '401 once': NO_RETRY,
    'revoked mid-stream': NO_RETRY,
    'POST with a string': NO_RETRY,
    'POST with a Buffer': NO_RETRY,
    'POST with a stream': NO_RETRY,
    'server restart':
      "A connection that died unnoticed is the request's error, as with Node's own agent.",
  },
  // Without a vault there is no credential yet, and then the bridge takes the request.
  cannotOnVault: { 'certificate refused in the handshake': NO_RETRY },
  // Then the bridge takes all of them.
  cannotWhereKeysSign: {},
  open: async (cluster) => openAgent(cluster, { direct: true }),
}
