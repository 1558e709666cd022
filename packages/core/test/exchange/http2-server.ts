import { once } from 'node:events'
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { makeTarget, type Target } from '../../src/dial/target.ts'
import { http2Exchange } from '../../src/exchange/http2.ts'
import { HTTP2_TIMEOUTS, type Http2Timeouts } from '../../src/exchange/http2-connection.ts'
import { ResourceCache } from '../../src/keeper/resource-cache.ts'
import type { Call } from '../../src/request/call.ts'
import type { OutgoingRequest } from '../../src/request/outgoing-request.ts'
import { makePair } from '../fixtures/make-certificates.ts'
import { fakeAccess, lineTo, plainLease, sendOver } from '../request/line-to.ts'

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]) => void

/** A server that a test controls, and a line to it over our HTTP/2 exchange. */
export class Http2Scene implements AsyncDisposable {
  readonly target: Target
  /** All HTTP/2 connections so far, in order. */
  readonly sessions: ServerHttp2Session[]
  /** All requests so far, in order. */
  readonly streams: ServerHttp2Stream[]
  readonly derived = new ResourceCache()
  readonly #times: Http2Timeouts
  /** Ends all connections without an HTTP/2 frame. */
  readonly drop: () => void
  readonly #end: () => Promise<void>

  private constructor(parts: {
    target: Target
    times: Http2Timeouts
    sessions: ServerHttp2Session[]
    streams: ServerHttp2Stream[]
    drop: () => void
    end: () => Promise<void>
  }) {
    this.target = parts.target
    this.sessions = parts.sessions
    this.streams = parts.streams
    this.#times = parts.times
    this.drop = parts.drop
    this.#end = parts.end
  }

  static async open(
    onStream: OnStream,
    { settings = {}, times = {} }: { settings?: Settings; times?: Partial<Http2Timeouts> } = {},
  ): Promise<Http2Scene> {
    const { certificate, key } = await makePair()
    const server = createSecureServer({ cert: certificate, key, settings })
    const sessions: ServerHttp2Session[] = []
    const streams: ServerHttp2Stream[] = []
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    })
    server.on('sessionError', () => {})
    server.on('session', (session) => void sessions.push(session))
    // The types have three arguments, Node passes four.
    const take = (
      stream: ServerHttp2Stream,
      headers: IncomingHttpHeaders,
      _flags: number,
      raw: string[] = [],
    ): void => {
      streams.push(stream)
      stream.on('error', () => {})
      // Later, because ending a stream or session while Node reads aborts the process (nodejs/node#64113).
      setImmediate(() => onStream(stream, headers, raw))
    }
    server.on('stream', take)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const drop = (): void => {
      for (const socket of sockets) socket.destroy()
    }
    return new Http2Scene({
      target: insecureTarget(`https://127.0.0.1:${port}`),
      times: { ...HTTP2_TIMEOUTS, ...times },
      sessions,
      streams,
      drop,
      end: async () => {
        drop()
        await new Promise((resolve) => server.close(resolve))
      },
    })
  }

  send(path: string, more: Sent = {}, target = this.target): Promise<Call> {
    const { body, ...rest } = more
    const exchange = http2Exchange(this.#times)
    const line = lineTo(target, exchange, { access: fakeAccess(plainLease(this.derived)) })
    const canReplay = (): boolean => !(body instanceof Readable)
    return sendOver(line, path, { ...rest, body: () => body, canReplay }, exchange)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.derived.destroy(new Error('the test is over'))
    await this.#end()
  }
}

export function insecureTarget(url: string): Target {
  return makeTarget(url, { ca: undefined, serverName: undefined, insecure: true })
}

/** What differs from a plain GET. */
export type Sent = Partial<Omit<OutgoingRequest, 'body' | 'canReplay'>> & {
  readonly body?: Uint8Array | Readable | undefined
}

export async function textOf(body: Readable): Promise<string> {
  let text = ''
  for await (const chunk of body.setEncoding('utf8')) text += chunk as string
  return text
}

/** Responds with 200 and a text. */
export function answer(stream: ServerHttp2Stream, text = 'ok'): void {
  if (stream.closed) return
  stream.respond({ ':status': 200 })
  stream.end(text)
}
