import type { IncomingHttpHeaders } from 'node:http'
import type { Call, Outcome } from '../api/call.ts'
import {
  type Authentication,
  type Authenticators,
  authenticate,
} from '../authentication/authenticate.ts'
import { impersonate } from '../authentication/impersonate.ts'
import { ANONYMOUS, type UserInfo } from '../authentication/user-info.ts'
import { authorize, type Forbid } from './authorize.ts'
import { type Exchange, headersOf, type Incoming } from './exchange.ts'
import { openRecord } from './open-record.ts'
import { parseRequestInfo } from './request-info.ts'
import type { OpenRecord, RequestLog } from './request-log.ts'
import { retireSession } from './retire-session.ts'
import { type Answer, send, setCommonHeaders } from './send.ts'
import { failure, StatusError } from './status.ts'

/** What a `respondWith` hook receives. The headers are unchanged and include credentials. */
export interface RequestFacts {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The user before impersonation; absent if the credential is invalid. */
  readonly user?: UserInfo
}

/** Answers a request instead of the sandbox, or returns undefined to let the sandbox answer. */
export type Responder = (facts: RequestFacts) => Answer | undefined | Promise<Answer | undefined>

/** What {@link handle} needs. */
export interface HandlerContext {
  readonly authenticators: Authenticators
  readonly forbid?: Forbid
  readonly log: RequestLog
  readonly responder: () => Responder | undefined
  readonly connectionOf: (request: Incoming) => number
  readonly route: (call: Call) => Promise<Outcome>
}

/** Handles one request: authenticates, logs, authorises and answers it. Rejects only if a hook's answer cannot be sent. */
export async function handle(exchange: Exchange, context: HandlerContext): Promise<void> {
  const { request, response } = exchange
  const now = context.authenticators.now()
  const authentication = authenticate(request, context.authenticators)
  const record = openRecord(request, authentication, {
    time: now,
    connection: context.connectionOf(request),
  })
  context.log.add(record)
  response.once('error', () => {})
  response.once('close', () => {
    record.hasEnded = true
  })
  setCommonHeaders(response, now)
  let outcome: Outcome
  try {
    outcome = await decide(exchange, authentication, record, context)
  } catch (error) {
    outcome = explain(error)
  }
  if (outcome === 'streaming') {
    record.status = response.statusCode
    return
  }
  record.status = outcome.status
  send(request, response, outcome)
}

async function decide(
  exchange: Exchange,
  authentication: Authentication,
  record: OpenRecord,
  context: HandlerContext,
): Promise<Outcome> {
  const { request } = exchange
  const method = request.method ?? 'GET'
  const path = request.url ?? '/'
  const authenticated = authentication.user
  const facts = { method, path, headers: headersOf(request) }
  const override = await context.responder()?.(
    authenticated === undefined ? facts : { ...facts, user: authenticated },
  )
  if (override !== undefined) return override
  if (authenticated === undefined || authenticated.username === ANONYMOUS.username)
    retireSession(request)
  if (authenticated === undefined) throw new StatusError('Unauthorized', 'Unauthorized')
  const user = impersonate(request, authenticated)
  record.user = user.username
  const url = new URL(`https://sandbox${path}`)
  const info = parseRequestInfo(method, url)
  authorize({ user, method, path, info }, context.forbid)
  return context.route({ ...exchange, method, url, user, info })
}

function explain(error: unknown): Answer {
  const status =
    error instanceof StatusError
      ? error.status
      : failure('InternalError', `Internal error occurred: ${String(error)}`)
  return { status: status.code, body: status }
}
