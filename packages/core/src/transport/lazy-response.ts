import { Readable } from 'node:stream'
import { arrayBuffer, text } from 'node:stream/consumers'
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
type SelfReading = Readable & { text?: () => Promise<string>; json?: () => Promise<unknown> }

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

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#whole ? this.#whole.arrayBuffer() : arrayBuffer(this.#take())
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
    const stream = hasBody ? (Readable.toWeb(this.#take()) as ReadableStream<Uint8Array>) : null
    if (!hasBody) this.#incoming.body.resume()
    this.#whole = new Response(stream, { status, statusText, headers: this.headers })
    return this.#whole
  }
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

async function readText(body: Readable): Promise<string> {
  return stripBom(await text(body))
}

function stripBom(content: string): string {
  return content.charCodeAt(0) === 0xfeff ? content.slice(1) : content
}
