/** The HTTP version of a request, as Node names it. */
export type HttpVersion = '1.0' | '1.1' | '2.0'

/** The log entry of a request. It never contains credentials. */
export interface RequestRecord {
  /** Milliseconds since the epoch, by the server's clock. */
  readonly time: number
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly httpVersion: HttpVersion
  /** The number of its connection, counted from 1. */
  readonly connection: number
  /** Whether the connection resumed a TLS session, and so has that session's client certificate. */
  readonly tlsSessionReused: boolean
  /** The user name after impersonation; absent for a 401. */
  readonly user?: string
  readonly hasAuthorization: boolean
  readonly hasClientCertificate: boolean
  /** The user that the bearer token was issued to, even if the token is invalid or the certificate took precedence. */
  readonly tokenUser?: string
  /** The user that the client certificate names, even if the certificate is invalid. */
  readonly certificateUser?: string
  /** Absent until the response begins. */
  readonly status?: number
  /** Present when the response has ended: it was sent completely, or the client disconnected. */
  readonly hasEnded?: true
}

/** A record that is still being written. */
export type OpenRecord = { -readonly [K in keyof RequestRecord]: RequestRecord[K] }

const MAX_RECORDS = 10_000

/** The last requests, oldest first. */
export class RequestLog {
  #records: OpenRecord[] = []

  add(record: OpenRecord): void {
    // Dropping half of them at a time keeps the amortised cost constant.
    if (this.#records.length >= MAX_RECORDS) this.#records = this.#records.slice(MAX_RECORDS / 2)
    this.#records.push(record)
  }

  list(): readonly RequestRecord[] {
    return this.#records.map((record) => ({ ...record }))
  }
}
