import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { ResponseHeaders } from '../exchange/handler.ts'
import type { Call } from './call.ts'

/** Statuses that have no body by definition; the global Response refuses to be made with one. */
const BODILESS = new Set([101, 204, 205, 304])

/**
 * A global `Response` whose expensive parts are made when a caller asks for them.
 *
 * `response instanceof Response` holds. Most callers read a status and a JSON body: for them no stream and no `Headers`
 * is ever made. It is an object of its own, and not the call: a call has the credential that was sent.
 */
export function makeResponse(call: Call, { redirected = false } = {}): Response {
  // Set when first needed: the global Response takes longer to load than a small program to run.
  if (!(CallResponse.prototype instanceof Response)) {
    Object.setPrototypeOf(CallResponse.prototype, Response.prototype)
  }
  return new CallResponse(call, redirected) as unknown as Response
}

class CallResponse {
  readonly #call: Call
  readonly redirected: boolean
  readonly status: number
  #headers: Headers | undefined
  /** A real Response, once a caller needed one. */
  #whole: Response | undefined
  #isUsed = false

  constructor(call: Call, redirected: boolean) {
    this.#call = call
    this.redirected = redirected
    this.status = call.statusCode
  }

  get url(): string {
    const { server, path } = this.#call
    return server.origin + path
  }

  get statusText(): string {
    return this.#call.statusText
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  get type(): string {
    return 'default'
  }

  get headers(): Headers {
    this.#headers ??= toHeaders(this.#call.headers)
    return this.#headers
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (this.#isUsed && this.#whole === undefined) return spentStream()
    return this.#real().body as ReadableStream<Uint8Array> | null
  }

  get bodyUsed(): boolean {
    return this.#whole?.bodyUsed ?? this.#isUsed
  }

  text(): Promise<string> {
    return this.#whole?.text() ?? this.#read(toText)
  }

  json(): Promise<unknown> {
    return this.#whole?.json() ?? this.#read(toJson)
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#whole?.arrayBuffer() ?? this.#read(toArrayBuffer)
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.arrayBuffer())
  }

  async blob(): Promise<Blob> {
    return this.#real().blob()
  }

  async formData(): Promise<FormData> {
    return this.#real().formData()
  }

  clone(): Response {
    return this.#real().clone()
  }

  #read<T>(convert: (bytes: Buffer) => T): Promise<T> {
    try {
      this.#use()
      const decoder = decoderFor(this.#call.headers['content-encoding'])
      if (decoder === undefined) return this.#call.readAll(convert)
      return readBytes(through(this.#call.body, decoder)).then(convert)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #use(): void {
    if (this.#isUsed) throw new TypeError('Body is unusable: Body has already been read')
    this.#isUsed = true
  }

  #real(): Response {
    if (this.#whole !== undefined) return this.#whole
    const { status, statusText, headers } = this
    // Readers of an already used body get the standard's own error from a used Response.
    const hasBody = !BODILESS.has(status)
    if (hasBody) this.#use()
    this.#whole = new Response(hasBody ? this.#stream() : null, { status, statusText, headers })
    return this.#whole
  }

  #stream(): ReadableStream<Uint8Array> {
    const { body, headers } = this.#call
    const decoder = decoderFor(headers['content-encoding'])
    return toWebStream(decoder === undefined ? body : through(body, decoder))
  }
}

/** Drops a byte order mark, as the standard says. */
function toText(bytes: Buffer): string {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', hasMark ? 3 : 0)
}

function toJson(bytes: Buffer): unknown {
  return JSON.parse(toText(bytes))
}

/** A copy: the bytes may be a part of a larger memory. */
function toArrayBuffer({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
}

/** A body that was read has nothing more to give; asking for it is allowed. */
function spentStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() })
}

/** A body that was ended before it was read fails its reader, not a caller that only looks at it. */
function toWebStream(body: Readable): ReadableStream<Uint8Array> {
  if (!body.destroyed) return Readable.toWeb(body) as ReadableStream<Uint8Array>
  return new ReadableStream({ start: (controller) => controller.error(whyEnded(body)) })
}

function whyEnded(body: Readable): Error {
  return body.errored ?? new TypeError('the response was closed before its end')
}

function toHeaders(given: ResponseHeaders): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) headers.append(name, one)
    }
  }
  return headers
}

function decoderFor(encoding: string | string[] | undefined): Transform | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    default:
      return undefined
  }
}

function through(body: Readable, decoder: Transform): Readable {
  body.once('error', (error) => decoder.destroy(error))
  decoder.once('close', () => body.destroy())
  return body.pipe(decoder)
}

/** Not through `node:stream/consumers`, which makes a Blob on the way. */
function readBytes(body: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (body.destroyed) {
      reject(whyEnded(body))
      return
    }
    const chunks: Buffer[] = []
    body.on('data', (chunk: Buffer) => chunks.push(chunk))
    body.once('error', reject)
    body.once('close', () => reject(whyEnded(body)))
    body.once('end', () => resolve(Buffer.concat(chunks)))
  })
}
