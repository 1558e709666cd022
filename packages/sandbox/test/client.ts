import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import type { Sandbox } from '../src/index.ts'

/** The parts of a request. */
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

/** A response; `json` is the parsed text, if it is JSON. */
export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  readonly json: ReturnType<typeof JSON.parse>
}

/** Sends a request to a sandbox and reads the whole response. */
export async function call(sandbox: Sandbox, path: string, sent: Sent = {}): Promise<Received> {
  const response = await open(sandbox, path, sent)
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString()
  const { statusCode = 0, headers } = response
  return { status: statusCode, headers, bytes, text, json: parse(text) }
}

/** Sends a request and returns the response before its body has arrived. */
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

/** Sends a SelfSubjectReview. */
export async function whoAmI(sandbox: Sandbox, sent: Sent): Promise<Received> {
  const json = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  return call(sandbox, path, { method: 'POST', json, ...sent })
}

/** Parses a text if it is JSON. */
export function parse(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
