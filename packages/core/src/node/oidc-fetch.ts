import http from 'node:http'
import https from 'node:https'

/** What oauth4webapi hands to a fetch of ours. */
interface FetchInit {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

type OidcFetch = (url: string, init: FetchInit) => Promise<Response>

/** Far more than a discovery document or an answer with tokens has. */
const MOST_BYTES = 1024 * 1024

/** Statuses that the class `Response` takes only without a body. */
const WITHOUT_BODY = new Set([204, 205, 304])

/**
 * A fetch for talking to an issuer: with authorities of its own, answers of limited size, no redirects.
 *
 * The global one cannot be told whom to trust, and answers without a limit.
 *
 * @param ca PEM; the system's authorities when undefined.
 */
export function oidcFetch(ca: string | undefined): OidcFetch {
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { request: open } = url.startsWith('https:') ? https : http
      const request = open(url, {
        method,
        headers: { ...headers, 'accept-encoding': 'identity' },
        // One connection for each: nothing is kept that could outlive the refresh.
        agent: false,
        ...(ca !== undefined && { ca }),
        ...(signal && { signal }),
      })
      request.once('error', reject)
      request.once('response', (response) => {
        readAll(response).then((content) => resolve(toResponse(response, content)), reject)
      })
      request.end(body === undefined ? undefined : String(body))
    })
}

async function readAll(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BYTES) {
      response.destroy()
      throw Object.assign(new Error('answer too large'), { code: 'EFBIG' })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toResponse({ statusCode = 0, headers }: http.IncomingMessage, content: Buffer): Response {
  return new Response(WITHOUT_BODY.has(statusCode) ? null : new Uint8Array(content), {
    status: statusCode,
    headers: { 'content-type': headers['content-type'] ?? '' },
  })
}
