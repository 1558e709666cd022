import type { IncomingMessage, ServerResponse } from 'node:http'
import { describeUnexpected, type UnexpectedError } from 'kubecred/errors'
import type { LiveState } from './live-state.ts'
import { type PageAction, performAction, readAction } from './page-action.ts'
import type { PageConnections } from './page-connections.ts'
import type { PageFile } from './page-files.ts'
import { rejectForeignRequest } from './page-guard.ts'
import { send, sendError } from './page-response.ts'
import type { PageSecret } from './page-secret.ts'
import { streamState } from './state-stream.ts'

/** Further resources by path, such as `/metrics`. They need the secret. */
export type PageRoutes = Readonly<
  Record<`/${string}`, () => Promise<{ readonly type: string; readonly body: string }>>
>

/** Each open page costs up to four snapshots a second. */
const MAX_STREAMS = 16

interface Parts {
  readonly state: LiveState
  readonly secret: PageSecret
  readonly files: ReadonlyMap<string, PageFile>
  readonly routes: PageRoutes
  readonly port: number
  readonly connections: PageConnections
  /** Aborts when the page closes. */
  readonly ending: AbortSignal
  /** Called with internal errors; the response has the same id. */
  readonly onError: (error: UnexpectedError) => void
}

/** Creates the request listener of the page. */
export function pageHandler(
  parts: Parts,
): (request: IncomingMessage, response: ServerResponse) => void {
  const streams = new Set<ServerResponse>()
  parts.ending.addEventListener('abort', () => {
    for (const stream of streams) stream.end()
  })
  return (request, response) => {
    response.on('error', () => {})
    if (hasBody(request)) {
      response.shouldKeepAlive = false
      sendError(response, 413, 'the page accepts no request bodies')
      return
    }
    const rejection = rejectForeignRequest(request, parts.port)
    if (rejection !== undefined) {
      sendError(response, rejection.status, rejection.message)
      return
    }
    const path = request.url ?? ''
    const file = parts.files.get(path)
    if (file !== undefined) {
      answerRead(request, response, () => send(response, 200, file))
      return
    }
    if (!parts.secret.isIn(request.headers.authorization)) {
      sendError(response, 401, 'the secret is missing or wrong; open the printed URL')
      return
    }
    parts.connections.trust(request.socket)
    answerTrusted(path, request, response, parts, streams)
  }
}

function answerTrusted(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  parts: Parts,
  streams: Set<ServerResponse>,
): void {
  const action = readAction(path)
  if (action !== undefined) {
    answerAction(action, request, response, parts)
    return
  }
  if (path === '/state') {
    answerRead(request, response, () => {
      if (streams.size >= MAX_STREAMS) sendError(response, 503, 'too many pages are open')
      else if (request.method === 'HEAD') send(response, 200, { type: NDJSON, body: '' })
      else openStream(response, parts.state, streams)
    })
    return
  }
  const route = Object.hasOwn(parts.routes, path) ? parts.routes[path as `/${string}`] : undefined
  if (route === undefined) {
    sendError(response, 404, 'not found')
    return
  }
  answerRead(request, response, () => {
    route().then(
      (content) => send(response, 200, content),
      (error: unknown) => answerFailed(response, error, parts),
    )
  })
}

const NDJSON = 'application/x-ndjson'

function openStream(
  response: ServerResponse,
  state: LiveState,
  streams: Set<ServerResponse>,
): void {
  streams.add(response)
  response.once('close', () => streams.delete(response))
  streamState(response, state)
}

function answerAction(
  action: PageAction,
  request: IncomingMessage,
  response: ServerResponse,
  parts: Parts,
): void {
  if (request.method !== 'POST') {
    sendError(response, 405, 'actions need POST', { allow: 'POST' })
    return
  }
  performAction(action, parts.state, response, parts.ending).catch((error: unknown) =>
    answerFailed(response, error, parts),
  )
}

/** Responds with the id of the error only: without knowing the secrets in use, its text cannot be scrubbed. */
function answerFailed(response: ServerResponse, error: unknown, { onError }: Parts): void {
  const described = describeUnexpected(error)
  onError(described)
  if (response.headersSent) response.destroy()
  else
    sendError(
      response,
      500,
      `internal error ${described.id}; see the standard error of the program`,
    )
}

function answerRead(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
  if (request.method === 'GET' || request.method === 'HEAD') answer()
  else sendError(response, 405, 'this resource is read-only', { allow: 'GET, HEAD' })
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}
