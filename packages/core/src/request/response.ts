import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { ResponseHeaders } from '../exchange/handler.ts'
import type { Call } from './call.ts'

/** Statuses without a body; the constructor of the global Response rejects a body for them. */
const NULL_BODY_STATUSES = new Set([101, 204, 205, 304])

/**
 * Makes a `Response` whose expensive parts are created on first use.
 *
 * `response instanceof Response` holds. Most callers read a status and a JSON body: for them no stream and no `Headers`
 * are created. It is a separate object, and not the call, because a call holds the credential that was sent.
 */
export function makeResponse(call: Call, { redirected = false } = {}): Response {
  // On first use, because loading the global Response takes longer than a small program runs.
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
  /** A real Response, created when a caller needs one. */
  #response: Response | undefined
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
    if (this.#isUsed && this.#response === undefined) return spentStream()
    return this.#real().body as ReadableStream<Uint8Array> | null
  }

  get bodyUsed(): boolean {
    return this.#response?.bodyUsed ?? this.#isUsed
  }

  text(): Promise<string> {
    return this.#response?.text() ?? this.#read(toText)
  }

  json(): Promise<unknown> {
    return this.#response?.json() ?? this.#read(toJson)
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#response?.arrayBuffer() ?? this.#read(toArrayBuffer)
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
    if (this.#response !== undefined) return this.#response
    const { status, statusText, headers } = this
    const hasBody = !NULL_BODY_STATUSES.has(status)
    if (hasBody) this.#use()
    this.#response = new Response(hasBody ? this.#stream() : null, { status, statusText, headers })
    return this.#response
  }

  #stream(): ReadableStream<Uint8Array> {
    return toWebStream(decodedBody(this.#call))
  }
}

/** Returns the body of a response as a stream, decompressed. */
export function decodedBody({ body, headers }: Call): Readable {
  const decoder = decoderFor(headers['content-encoding'])
  return decoder === undefined ? body : through(body, decoder)
}

/** Removes a byte order mark, as the Fetch standard says. */
function toText(bytes: Buffer): string {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', hasMark ? 3 : 0)
}

function toJson(bytes: Buffer): unknown {
  return JSON.parse(toText(bytes))
}

/** Copies the bytes, which may be a part of a larger buffer. */
function toArrayBuffer({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
}

/** Returns the stream of a body that has been read: `body` may still be accessed. */
function spentStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() })
}

/** Converts a body. If it was ended before it was read, reading fails, but accessing the stream does not. */
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

/** A server compresses large lists only, and with Node's 16 KiB most of the time is spent between the chunks. */
const CHUNK_BYTES = 128 * 1024

function decoderFor(encoding: string | string[] | undefined): Transform | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ chunkSize: CHUNK_BYTES })
    case 'deflate':
      return createInflate({ chunkSize: CHUNK_BYTES })
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

/** Reads a stream; without `node:stream/consumers`, which creates a Blob. */
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
