import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Call, Outcome } from '../api/call.ts'
import {
  type Authentication,
  type Authenticators,
  authenticate,
} from '../authentication/authenticate.ts'
import { impersonate } from '../authentication/impersonate.ts'
import type { UserInfo } from '../authentication/user-info.ts'
import { authorize, type Forbid } from './authorize.ts'
import { parseRequestInfo } from './request-info.ts'
import type { OpenRecord, RequestLog } from './request-log.ts'
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
  readonly connectionOf: (request: IncomingMessage) => number
  readonly route: (call: Call) => Promise<Outcome>
}

/** Takes one request from its first byte to its answer. Rejects only if a hook's answer cannot be sent. */
export async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  handling: Handling,
): Promise<void> {
  const now = handling.authenticators.now()
  const shown = authenticate(request, handling.authenticators)
  const record = openRecord(request, shown, now, handling)
  response.once('error', () => {})
  setCommonHeaders(response, now)
  let outcome: Outcome
  try {
    outcome = await decide(request, response, shown, record, handling)
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
  request: IncomingMessage,
  response: ServerResponse,
  shown: Authentication,
  record: OpenRecord,
  handling: Handling,
): Promise<Outcome> {
  const method = request.method ?? 'GET'
  const path = request.url ?? '/'
  const sender = shown.user
  const facts = { method, path, headers: request.headers }
  const override = await handling.responder()?.(
    sender === undefined ? facts : { ...facts, user: sender },
  )
  if (override !== undefined) return override
  if (sender === undefined) throw new StatusError('Unauthorized', 'Unauthorized')
  const user = impersonate(request, sender)
  record.user = user.username
  const url = new URL(`https://sandbox${path}`)
  const info = parseRequestInfo(method, url)
  authorize({ user, method, path, info }, handling.forbid)
  return handling.route({ request, response, method, url, user, info })
}

function openRecord(
  request: IncomingMessage,
  { user, hasAuthorization, hasClientCertificate }: Authentication,
  time: number,
  { log, connectionOf }: Handling,
): OpenRecord {
  const record: OpenRecord = {
    time,
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    connection: connectionOf(request),
    ...(user === undefined ? {} : { user: user.username }),
    hasAuthorization,
    hasClientCertificate,
  }
  log.add(record)
  return record
}

function explain(error: unknown): Answer {
  const status =
    error instanceof StatusError
      ? error.status
      : failure('InternalError', `Internal error occurred: ${String(error)}`)
  return { status: status.code, body: status }
}
