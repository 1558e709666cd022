import type { Lease } from '../vault/lease.ts'
import { actAs, type HeaderValues } from './default-headers.ts'

/** What of a lease goes into headers; connections without one have nothing. */
export type Attachable = Partial<Pick<Lease, 'authorization' | 'endpoint'>>

/**
 * The headers of one try: those of the request, whom the login acts as, and its credential.
 *
 * The two are attached together and from one lease: a credential without the impersonation of its login has
 * more rights than it should. If there is nothing to attach, they are the headers themselves.
 */
export function attachLease(
  headers: HeaderValues,
  { authorization, endpoint }: Attachable,
): HeaderValues {
  const acting =
    endpoint?.impersonate === undefined ? headers : actAs(endpoint.impersonate, headers)
  return authorization === undefined ? acting : { ...acting, authorization }
}
