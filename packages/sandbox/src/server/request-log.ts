/** The versions of HTTP that a request can come in. */
export type HttpVersion = '1.0' | '1.1' | '2.0'

/** What the sandbox remembers of a request. Credentials are never in it. */
export interface RequestRecord {
  /** Milliseconds since the epoch, on the server's clock. */
  readonly time: number
  readonly method: string
  /** The path with its query. */
  readonly path: string
  /** As Node names it. */
  readonly httpVersion: HttpVersion
  /** The connection that carried it, counted from 1. */
  readonly connection: number
  /** Whether the connection began by resuming a TLS session, and so with that session's client. */
  readonly tlsSessionReused: boolean
  /** Who the server took the sender for, impersonation included; absent with a 401. */
  readonly user?: string
  readonly hasAuthorization: boolean
  readonly hasClientCertificate: boolean
  /** Whom the bearer token was issued to, even if it is not good any more, or did not win. */
  readonly tokenUser?: string
  /** Whom the client certificate of the connection names, good or not, whether or not it won. */
  readonly certificateUser?: string
  /** Absent until the answer begins. */
  readonly status?: number
  /** Present when the answer is over: all of it was sent, or the client left. */
  readonly hasEnded?: true
}

/** A record that is still being written. */
export type OpenRecord = { -readonly [K in keyof RequestRecord]: RequestRecord[K] }

const LIMIT = 10_000

/** The last requests, oldest first. */
export class RequestLog {
  #records: OpenRecord[] = []

  add(record: OpenRecord): void {
    // Dropping half at once keeps the cost of adding constant.
    if (this.#records.length >= LIMIT) this.#records = this.#records.slice(LIMIT / 2)
    this.#records.push(record)
  }

  list(): readonly RequestRecord[] {
    return this.#records.map((record) => ({ ...record }))
  }
}
