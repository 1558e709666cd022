/** The response with which a server refused a credential. */
export interface Refusal {
  /** The HTTP status; 0 if the credential was not sent. */
  readonly status: number
  /** The headers of the response, with names in lower case; empty if there was no response. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** A refusal without a known response. */
export const UNAUTHORIZED: Refusal = { status: 401, headers: {} }
