import type { AdminAccess } from './admin-request.ts'
import type { StaticUser } from './api-server.ts'
import type { Pair } from './certificates.ts'
import type { Programs } from './stage.ts'

/** A running cluster as plain data, passed from the process that started it to the test processes. */
export interface ClusterFacts {
  readonly access: AdminAccess
  /** The CA of client certificates. */
  readonly clients: Pair
  readonly staticUser: StaticUser
  /** The issuer of tokens. */
  readonly issuer: { readonly url: string; readonly key: string }
  readonly folder: string
  readonly auditFile: string
  /** The file with the log of every pod; empty without kwok. */
  readonly podLogFile: string
  /** The administrator's credentials. */
  readonly kubeconfig: string
  readonly programs: Programs
}
