import type { UserInfo } from '../authentication/user-info.ts'
import type { Exchange } from '../server/exchange.ts'
import type { RequestInfo, ResourceRequest } from '../server/request-info.ts'
import type { Answer } from '../server/send.ts'

/** An authenticated and authorised request. */
export interface Call<Info extends RequestInfo = RequestInfo> extends Exchange {
  readonly method: string
  readonly url: URL
  readonly user: UserInfo
  readonly info: Info
}

/** A call about an object or a list. */
export type ResourceCall = Call<ResourceRequest>

/** What a handler returns: an answer, or `streaming` if it writes the response itself. */
export type Outcome = Answer | 'streaming'
