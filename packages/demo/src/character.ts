import type { Environment } from '@kubecred/cli/internal'
import type { IdentityName } from './shown-identities.ts'

/** Somebody in the demo: an identity with its own way to a credential. */
export interface Character {
  /** The user name that the server knows, too. */
  readonly id: IdentityName
  /** One line for those who meet them first. */
  readonly introduction: string
  readonly kubeconfig: string
  /** What they show the server. */
  readonly shows: 'token' | 'certificate'
  /** Where the private key is, if it is not in this process. */
  readonly keyIsIn?: string
  /** What their programs find in the environment. */
  readonly env: Environment
  /** What they ask the server for, again and again. */
  readonly deeds: readonly Deed[]
  /** Takes back what the server gave them. */
  readonly revoke?: () => void
}

/** A request. */
export interface Deed {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly body?: () => object
}

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const HEARTBEAT = `${CONFIG_MAPS}/heartbeat`

export const READS: readonly Deed[] = [
  { method: 'GET', path: '/api/v1/namespaces' },
  { method: 'GET', path: CONFIG_MAPS },
  { method: 'GET', path: '/api/v1/namespaces/default/pods' },
]

/** Changes what everybody watches. */
export const WRITES: readonly Deed[] = [
  {
    method: 'PATCH',
    path: HEARTBEAT,
    body: () => ({ data: { beat: String(performance.now()) } }),
  },
  { method: 'GET', path: HEARTBEAT },
]
