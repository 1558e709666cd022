import { NotSupportedError } from '../errors/index.ts'
import { RUNTIME } from './environment.ts'

/** What not every runtime can do. */
type Ability = 'undici' | 'http2' | 'agents of fetch' | 'signing keys'

interface Lack {
  readonly message: string
  readonly hint: string
}

/** Their TLS has no `keylog` event, which the signed part of the handshake needs. */
const NO_SIGNING: Lack = {
  message: `a signing key needs Node: the TLS of ${RUNTIME} cannot use keys outside the process`,
  hint: 'Run this program with Node.',
}

/**
 * What each runtime lacks. Only `kubecred/register`, which needs Node, also depends on the runtime.
 *
 * Bun replaces the modules `undici` and `node-fetch` with its own, which have no pools and ignore agents and dispatchers.
 * A session of Deno's `node:http2` cannot use an existing connection, and its errors end the process.
 */
const LACKS: Readonly<Record<typeof RUNTIME, Readonly<Partial<Record<Ability, Lack>>>>> = {
  Node: {},
  Bun: {
    undici: {
      message: 'undici is not supported under Bun, which replaces it with its own',
      hint: 'Use cluster.fetch() with the default transport, or an agent of kubecred/https.',
    },
    'agents of fetch': {
      message:
        'this request of client-node is not supported under Bun, which replaces its node-fetch',
      hint: 'Use API clients that were made after attach(), and cluster.fetch() for watches and logs, or run this program with Node.',
    },
    'signing keys': NO_SIGNING,
  },
  Deno: {
    http2: {
      message: 'HTTP/2 is not supported under Deno',
      hint: 'Use cluster.fetch() with the default transport, which is HTTP/1.1.',
    },
    'signing keys': NO_SIGNING,
  },
}

/** @throws {NotSupportedError} `ERR_NOT_SUPPORTED` if this runtime lacks something. */
export function requireAbility(ability: Ability): void {
  const lack = lackOf(ability)
  if (lack !== undefined) throw lack
}

/** Returns the error that says what this runtime lacks; undefined if it lacks nothing. */
export function lackOf(ability: Ability): NotSupportedError | undefined {
  const lack = LACKS[RUNTIME][ability]
  return lack && new NotSupportedError(lack.message, { hint: lack.hint })
}

/** The transport if the caller names none; undefined for pools that also limit the connections of signing keys. */
export const DEFAULT_TRANSPORT = 'undici' in LACKS[RUNTIME] ? 'https' : undefined
