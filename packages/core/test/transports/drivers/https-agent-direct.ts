import type { Driver } from '../driver.ts'
import { openAgent } from './https-agent.ts'

const NO_RETRY = 'With `direct` the caller gets the 401, and the next request has a new credential.'

/** `node:https` with our agent and the option `direct`. */
export const httpsAgentDirect: Driver = {
  name: 'https.Agent, direct',
  tellsErrors: 'as it is',
  cannot: {
    '401 once': NO_RETRY,
    'revoked mid-stream': NO_RETRY,
    'POST with a string': NO_RETRY,
    'POST with a Buffer': NO_RETRY,
    'POST with a stream': NO_RETRY,
    'server restart': "A request on a dead connection fails, as with Node's own agent.",
  },
  // Without a vault there is no credential yet, so the first request uses the bridge.
  cannotOnVault: { 'certificate refused in the handshake': NO_RETRY },
  // With signing keys all requests use the bridge.
  cannotWhereKeysSign: {},
  open: async (cluster) => openAgent(cluster, { direct: true }),
}
