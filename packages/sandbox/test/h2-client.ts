import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import type { Sandbox } from '../src/index.ts'
import { parse, type Received, type Sent } from './client.ts'

/** An HTTP/2 connection to a sandbox, closed by `await using`. */
export interface H2 extends AsyncDisposable {
  readonly session: ClientHttp2Session
  /** Sends a request and returns the stream when its headers have arrived. */
  open(path: string, sent?: Sent): Promise<{ status: number; stream: ClientHttp2Stream }>
  /** Sends a request and reads the whole response. */
  call(path: string, sent?: Sent): Promise<Received>
}

/** Opens an HTTP/2 connection. */
export function connectH2(sandbox: Sandbox, { cert, key }: Sent = {}): H2 {
  const session = connect(sandbox.url, {
    ca: sandbox.caPem,
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  })
  session.on('error', () => {})
  const request = (path: string, sent: Sent): ClientHttp2Stream => {
    const { method = 'GET', token, json, headers, body } = sent
    const stream = session.request({
      ':path': path,
      ':method': method,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    })
    stream.end(json === undefined ? body : JSON.stringify(json))
    return stream
  }
  const open: H2['open'] = async (path, sent = {}) => {
    const stream = request(path, sent)
    const [headers] = await once(stream, 'response')
    return { status: headers[':status'], stream }
  }
  const call: H2['call'] = async (path, sent = {}) => {
    const stream = request(path, sent)
    const [headers] = await once(stream, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    const text = bytes.toString()
    return { status: headers[':status'], headers, bytes, text, json: parse(text) }
  }
  return { session, open, call, [Symbol.asyncDispose]: async () => session.destroy() }
}
