import type { IncomingMessage, ServerResponse } from 'node:http'
import { describeUnexpected, type UnexpectedError } from 'kubecred/errors'
import type { LiveState } from './live-state.ts'
import { type PageAction, performAction, readAction } from './page-action.ts'
import type { PageConnections } from './page-connections.ts'
import type { PageFile } from './page-files.ts'
import { refuseStranger } from './page-guard.ts'
import { send, sendProblem } from './page-response.ts'
import type { PageSecret } from './page-secret.ts'
import { streamState } from './state-stream.ts'

/** Things to read beside the page, by path, such as `/metrics`. Who asks must know the secret. */
export type PageRoutes = Readonly<
  Record<`/${string}`, () => Promise<{ readonly type: string; readonly body: string }>>
>

/** More pages than this at once are refused: each costs a snapshot four times a second. */
const MOST_STREAMS = 16

interface Parts {
  readonly state: LiveState
  readonly secret: PageSecret
  readonly files: ReadonlyMap<string, PageFile>
  readonly routes: PageRoutes
  readonly port: number
  readonly connections: PageConnections
  /** Aborted when the page ends. */
  readonly ending: AbortSignal
  /** Called with what should not happen; the answer has its id. */
  readonly onError: (error: UnexpectedError) => void
}

/** Makes what answers every request to the page's listener. */
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
      sendProblem(response, 413, 'the page takes no data')
      return
    }
    const stranger = refuseStranger(request, parts.port)
    if (stranger !== undefined) {
      sendProblem(response, stranger.status, stranger.why)
      return
    }
    const path = request.url ?? ''
    const file = parts.files.get(path)
    if (file !== undefined) {
      answerRead(request, response, () => send(response, 200, file))
      return
    }
    if (!parts.secret.isIn(request.headers.authorization)) {
      sendProblem(
        response,
        401,
        'the secret is missing or wrong; open the address that was printed',
      )
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
      if (streams.size >= MOST_STREAMS) sendProblem(response, 503, 'too many pages are open')
      else if (request.method === 'HEAD') send(response, 200, { type: NDJSON, body: '' })
      else openStream(response, parts.state, streams)
    })
    return
  }
  const route = Object.hasOwn(parts.routes, path) ? parts.routes[path as `/${string}`] : undefined
  if (route === undefined) {
    sendProblem(response, 404, 'there is nothing at this path')
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
    sendProblem(response, 405, 'a button is pressed with POST', { allow: 'POST' })
    return
  }
  performAction(action, parts.state, response, parts.ending).catch((error: unknown) =>
    answerFailed(response, error, parts),
  )
}

/** The reader of the page gets the id only: the text of the error may quote anything. */
function answerFailed(response: ServerResponse, error: unknown, { onError }: Parts): void {
  const described = describeUnexpected(error)
  onError(described)
  if (response.headersSent) response.destroy()
  else sendProblem(response, 500, `internal error ${described.id}; standard error has the details`)
}

function answerRead(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
  if (request.method === 'GET' || request.method === 'HEAD') answer()
  else sendProblem(response, 405, 'this can only be read', { allow: 'GET, HEAD' })
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}
