import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Incoming } from './exchange.ts'

/** Statuses that have no body by definition; the global Response refuses to be made with one. */
const BODILESS = new Set([101, 204, 205, 304])

/**
 * A global `Response` whose expensive parts are made when somebody asks for them.
 *
 * `response instanceof Response` holds. Most callers read a status and a JSON body. For them no web stream, no `Headers` object and no
 * second copy of the body is ever made; for everybody else the real thing is there.
 */
export function makeResponse(incoming: Incoming, url: string): Response {
  // Set when first needed: the global Response takes longer to load than a small program to run.
  if (!(LazyResponse.prototype instanceof Response)) {
    Object.setPrototypeOf(LazyResponse.prototype, Response.prototype)
  }
  return new LazyResponse(incoming, url) as unknown as Response
}

/** The pool's own body reads itself faster than any stream can be read from outside. */
type SelfReading = Readable & {
  text?: () => Promise<string>
  json?: () => Promise<unknown>
  arrayBuffer?: () => Promise<ArrayBuffer>
}

class LazyResponse {
  readonly #incoming: Incoming
  readonly url: string
  #headers: Headers | undefined
  /** The real Response, once somebody needed one. */
  #whole: Response | undefined
  #isUsed = false

  constructor(incoming: Incoming, url: string) {
    this.#incoming = incoming
    this.url = url
  }

  get status(): number {
    return this.#incoming.statusCode
  }

  get statusText(): string {
    return this.#incoming.statusText
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  get redirected(): boolean {
    return false
  }

  get type(): string {
    return 'default'
  }

  get headers(): Headers {
    this.#headers ??= toHeaders(this.#incoming.headers)
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
    return this.#whole ? this.#whole.text() : this.#read((body) => body.text?.() ?? readText(body))
  }

  json(): Promise<unknown> {
    return this.#whole
      ? this.#whole.json()
      : this.#read((body) => body.json?.() ?? readText(body).then((content) => JSON.parse(content)))
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#whole
      ? this.#whole.arrayBuffer()
      : this.#read((body) => body.arrayBuffer?.() ?? readBytes(body))
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

  #read<T>(consume: (body: SelfReading) => Promise<T>): Promise<T> {
    try {
      return consume(this.#take())
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #take(): SelfReading {
    if (this.#isUsed) throw new TypeError('Body is unusable: Body has already been read')
    this.#isUsed = true
    return decoded(this.#incoming)
  }

  #real(): Response {
    if (this.#whole !== undefined) return this.#whole
    const { statusCode: status, statusText } = this.#incoming
    // Readers of an already used body get the standard's own error from a used Response.
    const hasBody = !BODILESS.has(status)
    const stream = hasBody ? toWebStream(this.#take()) : null
    if (!hasBody) this.#incoming.body.resume()
    this.#whole = new Response(stream, { status, statusText, headers: this.headers })
    return this.#whole
  }
}

/** What was read already has nothing more to give, and asking for it is no mistake. */
function spentStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() })
}

/** A body that was ended before anybody read it fails its reader, not who looks at it. */
function toWebStream(body: Readable): ReadableStream<Uint8Array> {
  if (!body.destroyed) return Readable.toWeb(body) as ReadableStream<Uint8Array>
  return new ReadableStream({ start: (controller) => controller.error(whyEnded(body)) })
}

function whyEnded(body: Readable): Error {
  return body.errored ?? new TypeError('the response was closed before its end')
}

function toHeaders(given: Incoming['headers']): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) headers.append(name, one)
    }
  }
  return headers
}

function decoded({ headers, body }: Incoming): Readable {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return body
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined
  if (decoder === undefined) return body
  body.once('error', (error) => decoder.destroy(error))
  decoder.once('close', () => body.destroy())
  return body.pipe(decoder)
}

/** A decoder that drops a byte order mark, as the standard says. */
async function readText(body: Readable): Promise<string> {
  return new TextDecoder().decode(await readBytes(body))
}

/** Not through `node:stream/consumers`, which makes a Blob on the way. */
function readBytes(body: Readable): Promise<ArrayBuffer> {
  return new Promise((resolve, reject) => {
    if (body.destroyed) {
      reject(whyEnded(body))
      return
    }
    const chunks: Buffer[] = []
    body.on('data', (chunk: Buffer) => chunks.push(chunk))
    body.once('error', reject)
    body.once('close', () => reject(whyEnded(body)))
    body.once('end', () => {
      const { buffer, byteOffset, byteLength } = Buffer.concat(chunks)
      resolve(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
    })
  })
}
