import type { Environment } from '@kubecred/cli/internal'
import type { IdentityName } from './shown-identities.ts'

/** A user of the demo, with its own kind of credential. */
export interface DemoUser {
  /** Also the user name on the server. */
  readonly id: IdentityName
  /** Completes the sentence "ID …" in the introduction. */
  readonly description: string
  readonly kubeconfig: string
  /** The kind of credential. */
  readonly credential: 'token' | 'certificate'
  /** Where the private key is, if it is outside this process. */
  readonly keyLocation?: string
  /** The environment of the user's plugin or signer. */
  readonly env: Environment
  /** The requests that the user sends in turn. */
  readonly requests: readonly DemoRequest[]
  /** Revokes the credentials issued so far. */
  readonly revoke?: () => void
}

/** A request of a user. */
export interface DemoRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly body?: () => object
}

/** The path of the config maps that users read and watch. */
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const HEARTBEAT = `${CONFIG_MAPS}/heartbeat`

/** Requests that only read. */
export const READS: readonly DemoRequest[] = [
  { method: 'GET', path: '/api/v1/namespaces' },
  { method: 'GET', path: CONFIG_MAPS },
  { method: 'GET', path: '/api/v1/namespaces/default/pods' },
]

/** Requests that change the config map which all users watch. */
export const WRITES: readonly DemoRequest[] = [
  {
    method: 'PATCH',
    path: HEARTBEAT,
    body: () => ({ data: { beat: String(performance.now()) } }),
  },
  { method: 'GET', path: HEARTBEAT },
]
