import type { Controller, Headers, RawHeaders } from './handlers.ts'

/** What of a held answer is kept in memory; Kubernetes writes a few hundred bytes. The rest waits on the connection. */
const MOST_HELD_BYTES = 64 * 1024

/** An answer as it begins. */
export interface AnswerHead {
  readonly status: number
  readonly headers: Headers
  readonly rawHeaders: RawHeaders | Headers | null | undefined
  readonly statusText: string | undefined
}

/**
 * The server's refusal while we look for a better credential: if there is none, the caller gets it as it came.
 *
 * It is read into memory while small, so that the connection is free for others.
 */
export class HeldAnswer {
  /** Undefined when there was none: the connection was refused. */
  readonly head: AnswerHead | undefined
  readonly #chunks: Buffer[] = []
  #size = 0
  #end: { readonly trailers: Headers } | { readonly error: Error } | undefined

  constructor(head: AnswerHead | undefined) {
    this.head = head
  }

  /** Whether no more is to be read for now. */
  get isFull(): boolean {
    return this.#size > MOST_HELD_BYTES
  }

  /** Whether nothing more will come. */
  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  push(chunk: Buffer): void {
    // undici may use the memory again.
    this.#chunks.push(Buffer.from(chunk))
    this.#size += chunk.length
  }

  end(trailers: Headers): void {
    this.#end ??= { trailers }
  }

  fail(error: Error): void {
    this.#end ??= { error }
  }

  /** Hands on what is held. True when all of it was, false when the caller paused or left before. */
  flush(onChunk: (chunk: Buffer) => void, controller: Controller): boolean {
    while (!controller.paused && !controller.aborted) {
      const chunk = this.#chunks.shift()
      if (chunk === undefined) return true
      this.#size -= chunk.length
      onChunk(chunk)
    }
    return false
  }

  /** How it ended, if it did. */
  get ending(): { readonly trailers: Headers } | { readonly error: Error } | undefined {
    return this.#end
  }
}
