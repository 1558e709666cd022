/** What the sandbox remembers of a request. Credentials are never in it. */
export interface RequestRecord {
  /** Milliseconds since the epoch, on the server's clock. */
  readonly time: number
  readonly method: string
  /** The path with its query. */
  readonly path: string
  /** The connection that carried it, counted from 1. */
  readonly connection: number
  /** Who the server took the sender for, impersonation included; absent with a 401. */
  readonly user?: string
  readonly hasAuthorization: boolean
  readonly hasClientCertificate: boolean
  /** Absent until the answer begins. */
  readonly status?: number
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
