import { Readable } from 'node:stream'
import { openWebSocket } from 'kubecred/ws'
import { asUpgraded, EXEC_PROTOCOLS, execPath } from '../../adapters/ws/exec-echo.ts'
import type { Driver } from '../driver.ts'

const NO_BODY = 'A WebSocket begins with a GET, which has no body.'

/** `openWebSocket`. */
export const wsDriver: Driver = {
  name: 'ws',
  tellsErrors: 'as it is',
  signatures: { inTurn: 20, atOnce: 20, why: 'Every WebSocket is a connection of its own.' },
  streamsAreUpgrades: true,
  takesPaths: true,
  cannot: {
    warm: 'Every WebSocket is a connection of its own.',
    'POST with a string': NO_BODY,
    'POST with a Buffer': NO_BODY,
    'POST with a stream': NO_BODY,
  },
  async open(cluster) {
    return {
      async send({ method = 'GET', server = '', path, headers = {}, body, signal }) {
        if (method !== 'GET' || body !== undefined) throw new Error(NO_BODY)
        // The server does not upgrade, and its ordinary response is the result.
        const refused = await openWebSocket(cluster, server + path, [], { headers, signal }).then(
          () => new Error('the server agreed'),
          (error: Error & { status?: number }) => error,
        )
        if (!('status' in refused) || refused.status === undefined) throw refused
        const words = refused.message.replace(/^.*? with status \d+: /, '')
        return { status: refused.status, headers: {}, body: Readable.from([words]) }
      },
      upgrade: async ({ server = '', namespace, pod, signal }) =>
        asUpgraded(
          await openWebSocket(cluster, server + execPath(namespace, pod), EXEC_PROTOCOLS, {
            signal,
          }),
        ),
      async close() {},
    }
  },
}
