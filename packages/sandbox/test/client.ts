import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import type { Sandbox } from '../src/index.ts'

/** What a test sends. */
export interface Sent {
  readonly method?: string
  readonly token?: string
  readonly cert?: string
  readonly key?: string
  readonly headers?: OutgoingHttpHeaders
  readonly json?: unknown
  readonly body?: string | Buffer
  readonly agent?: Agent
  readonly servername?: string
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3'
}

/** What a test receives; `json` is what the text says, if it is JSON. */
export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  readonly json: ReturnType<typeof JSON.parse>
}

/** Sends a request to a sandbox and reads the whole answer. */
export async function call(sandbox: Sandbox, path: string, sent: Sent = {}): Promise<Received> {
  const response = await open(sandbox, path, sent)
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString()
  const { statusCode = 0, headers } = response
  return { status: statusCode, headers, bytes, text, json: parse(text) }
}

/** Sends a request and hands out the answer while it is still arriving. */
export async function open(sandbox: Sandbox, path: string, sent: Sent): Promise<IncomingMessage> {
  const { token, json, headers, body, agent = false, ...rest } = sent
  const payload = json === undefined ? (body ?? '') : JSON.stringify(json)
  const isPlain = sandbox.url.startsWith('http:')
  const options = {
    ...rest,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      // Without a length Node would send the body of a DELETE without any framing.
      'content-length': Buffer.byteLength(payload),
      ...headers,
    },
  }
  return new Promise((resolve, reject) => {
    const asked = isPlain
      ? httpRequest(sandbox.url + path, options, resolve)
      : httpsRequest(sandbox.url + path, { ...options, agent, ca: sandbox.caPem }, resolve)
    asked.on('error', reject)
    asked.end(payload)
  })
}

/** Asks the server who it thinks is asking. */
export async function whoAmI(sandbox: Sandbox, sent: Sent): Promise<Received> {
  const json = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  return call(sandbox, path, { method: 'POST', json, ...sent })
}

/** What a text says, if it is JSON. */
export function parse(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
