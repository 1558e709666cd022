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

/** What a `respondWith` hook is told. The headers are as received, credentials included. */
export interface RequestFacts {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Who the sender is, before impersonation; absent if the credential is no good. */
  readonly user?: UserInfo
}

/** Answers a request in the sandbox's place, or leaves it alone with `undefined`. */
export type Responder = (facts: RequestFacts) => Answer | undefined | Promise<Answer | undefined>

/** What handling a request needs. */
export interface Handling {
  readonly authenticators: Authenticators
  readonly forbid?: Forbid
  readonly log: RequestLog
  readonly responder: () => Responder | undefined
  readonly connectionOf: (request: Incoming) => number
  readonly route: (call: Call) => Promise<Outcome>
}

/** Takes one request from its first byte to its answer. Rejects only if a hook's answer cannot be sent. */
export async function handle(exchange: Exchange, handling: Handling): Promise<void> {
  const { request, response } = exchange
  const now = handling.authenticators.now()
  const shown = authenticate(request, handling.authenticators)
  const record = openRecord(request, shown, {
    time: now,
    connection: handling.connectionOf(request),
  })
  handling.log.add(record)
  response.once('error', () => {})
  response.once('close', () => {
    record.hasEnded = true
  })
  setCommonHeaders(response, now)
  let outcome: Outcome
  try {
    outcome = await decide(exchange, shown, record, handling)
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
  shown: Authentication,
  record: OpenRecord,
  handling: Handling,
): Promise<Outcome> {
  const { request } = exchange
  const method = request.method ?? 'GET'
  const path = request.url ?? '/'
  const sender = shown.user
  const facts = { method, path, headers: headersOf(request) }
  const override = await handling.responder()?.(
    sender === undefined ? facts : { ...facts, user: sender },
  )
  if (override !== undefined) return override
  if (sender === undefined || sender.username === ANONYMOUS.username) retireSession(request)
  if (sender === undefined) throw new StatusError('Unauthorized', 'Unauthorized')
  const user = impersonate(request, sender)
  record.user = user.username
  const url = new URL(`https://sandbox${path}`)
  const info = parseRequestInfo(method, url)
  authorize({ user, method, path, info }, handling.forbid)
  return handling.route({ ...exchange, method, url, user, info })
}

function explain(error: unknown): Answer {
  const status =
    error instanceof StatusError
      ? error.status
      : failure('InternalError', `Internal error occurred: ${String(error)}`)
  return { status: status.code, body: status }
}
