import https from 'node:https'

/** The administrator's certificate, for the suite's own requests. */
export interface AdminAccess {
  readonly server: string
  readonly caPem: string
  readonly certificate: string
  readonly key: string
}

export interface AdminAnswer {
  readonly status: number
  readonly text: string
  /** The parsed body; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, of every kind; tests look where they expect something
  readonly body: any
}

const LIMIT_MS = 10_000
// Reuses connections, because handshakes cost more than the requests.
const agent = new https.Agent({ keepAlive: true, maxSockets: 20, timeout: 5000 })

/** Sends one request as administrator, with Node's own client, so that the checks do not depend on the code under test. */
export function adminRequest(
  access: AdminAccess,
  method: string,
  path: string,
  body?: unknown,
  type = 'application/json',
): Promise<AdminAnswer> {
  const { caPem: ca, certificate: cert, key } = access
  const options = { method, ca, cert, key, agent, timeout: LIMIT_MS } as const
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': type }
    const request = https.request(access.server + path, { ...options, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text, body: parse(text) })
      })
      response.on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error(`no answer to ${method} ${path}`)))
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
