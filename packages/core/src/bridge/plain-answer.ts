import process from 'node:process'
import type { Call, Caller } from '../request/call.ts'
import type { ResponseReader } from '../request/incoming-response.ts'
import type { Answer, ClientEnd } from './client-end.ts'
import { MAX_JOINED_BYTES, sizeOf } from './memory-pipe.ts'
import { formatResponseHead } from './send-response.ts'

interface AnswerOptions {
  /** Ends the request. */
  readonly abort: () => void
  /** Converts the error of a request that got no response. */
  readonly explain: (error: unknown) => unknown
}

/**
 * The response to a plain request. It is written to the client's end as a server would write it.
 *
 * This is one object without promises and closures, because each adds to the time of every request. Everything is
 * delivered in a later tick: an exception of the client's listeners must not reach the connection to the server.
 */
export class PlainAnswer implements Answer, Caller, ResponseReader {
  readonly #client: ClientEnd
  readonly #method: string
  readonly #options: AnswerOptions
  #call: Call | undefined
  #isOver = false
  /** How much of the body is missing; undefined if it is sent in chunks. */
  #missing: number | undefined
  #pending: Buffer[] = []
  #hasEnded = false
  #isScheduled = false
  /** Whether the client must read before it gets more. */
  #isBlocked = false

  constructor(client: ClientEnd, method: string, options: AnswerOptions) {
    this.#client = client
    this.#method = method
    this.#options = options
  }

  // Called by the client's end.

  resume(): void {
    if (!this.#isBlocked) return
    this.#isBlocked = false
    this.#call?.controller?.resume()
    if (this.#pending.length > 0 || this.#hasEnded) this.#schedule()
  }

  abort(): void {
    this.#isOver = true
    this.#options.abort()
  }

  // Called by the call.

  answered(call: Call): void {
    this.#call = call
    this.#isScheduled = true
    // By then, most responses have arrived completely.
    process.nextTick(begin, this, call)
  }

  failed(error: unknown): void {
    if (!this.#isOver) this.#client.destroy(this.#options.explain(error) as Error)
  }

  data(chunk: Buffer): void {
    this.#pending.push(chunk)
    this.#schedule()
  }

  end(): void {
    this.#hasEnded = true
    this.#schedule()
  }

  fail(error: unknown): void {
    if (!this.#isOver) this.#client.destroy(error as Error)
  }

  /** Delivers the head of the response, and what has arrived of its body. */
  begin(call: Call): void {
    if (this.#isOver) return
    let head: string
    try {
      head = this.#formatHead(call)
    } catch (error) {
      this.#giveUp(error)
      return
    }
    if (this.#missing !== 0) call.read(this)
    this.deliver(head)
  }

  /** Delivers what has arrived since the last time. @param head The head of the response, the first time. */
  deliver(head = ''): void {
    this.#isScheduled = false
    if (this.#isOver) return
    const hasEnded = this.#hasEnded
    const chunks = this.#frame(head, this.#pending, hasEnded)
    this.#pending = []
    if (chunks === undefined) {
      this.#giveUp(new Error('the body of the response does not have its Content-Length'))
    } else if (hasEnded || this.#missing === 0) {
      this.#isOver = true
      // To the client the response is complete. In HTTP/2 its end may arrive later.
      if (!hasEnded) this.#call?.discard()
      this.#client.deliverLast(chunks)
    } else if (!this.#client.deliver(chunks) && !this.#isOver) {
      this.#isBlocked = true
      this.#call?.controller?.pause()
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isBlocked) return
    this.#isScheduled = true
    process.nextTick(deliver, this)
  }

  /** Formats the head, and determines how the body is sent. */
  #formatHead(call: Call): string {
    const { statusCode, headers } = call
    const hasBody = this.#method !== 'HEAD' && statusCode !== 204 && statusCode !== 304
    const length = headers['content-length']
    const isChunked = hasBody && length === undefined
    if (!isChunked) this.#missing = hasBody ? Number(length) : 0
    return formatResponseHead(call, isChunked ? CHUNKED : KEPT_ALIVE)
  }

  /** Returns a part of the response as it is sent; undefined if the body does not have the announced length. */
  #frame(head: string, body: readonly Buffer[], isLast: boolean): readonly Buffer[] | undefined {
    const size = sizeOf(body)
    if (this.#missing !== undefined) {
      this.#missing -= size
      // The other way round, a length that is not a number would pass.
      const isRight = isLast ? this.#missing === 0 : this.#missing >= 0
      return isRight ? framed(head, body, size, '') : undefined
    }
    const end = isLast ? LAST_CHUNK : ''
    if (size === 0) return framed(head, body, size, end)
    return framed(`${head}${size.toString(16)}\r\n`, body, size, `\r\n${end}`)
  }

  #giveUp(error: unknown): void {
    this.#call?.cancel(error)
    this.fail(error)
  }
}

const KEPT_ALIVE = 'Connection: keep-alive\r\n'
const CHUNKED = `${KEPT_ALIVE}Transfer-Encoding: chunked\r\n`
const LAST_CHUNK = '0\r\n\r\n'

/** Returns text and bytes as one buffer if they are small: the client's cost is per chunk. */
function framed(
  before: string,
  body: readonly Buffer[],
  bodyBytes: number,
  after: string,
): readonly Buffer[] {
  const size = before.length + bodyBytes + after.length
  if (size >= MAX_JOINED_BYTES)
    return [Buffer.from(before, 'latin1'), ...body, Buffer.from(after, 'latin1')]
  const joined = Buffer.allocUnsafe(size)
  let at = joined.write(before, 0, 'latin1')
  for (const chunk of body) at += chunk.copy(joined, at)
  joined.write(after, at, 'latin1')
  return [joined]
}

function begin(answer: PlainAnswer, call: Call): void {
  answer.begin(call)
}

function deliver(answer: PlainAnswer): void {
  answer.deliver()
}
