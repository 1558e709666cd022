import type { AdminAccess } from './admin-request.ts'
import type { StaticUser } from './api-server.ts'
import type { Pair } from './certificates.ts'
import type { Programs } from './stage.ts'

/** All that is known of a running cluster, as plain data: it goes from the process that started it to those that test. */
export interface ClusterFacts {
  readonly access: AdminAccess
  /** Signs client certificates. */
  readonly clients: Pair
  readonly staticUser: StaticUser
  /** Signs tokens. */
  readonly issuer: { readonly url: string; readonly key: string }
  readonly folder: string
  readonly auditFile: string
  /** What the log of every pod is; empty without kwok. */
  readonly podLogFile: string
  /** An administrator's. */
  readonly kubeconfig: string
  readonly programs: Programs
}
