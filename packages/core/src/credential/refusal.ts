/** How a server refused a credential. */
export interface Refusal {
  /** The HTTP status; 0 if the credential could not even be sent. */
  readonly status: number
  /** The headers of the response, names in lower case as they came; none if there was no response. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** A refusal without a response, or one of which nothing else is known. */
export const UNAUTHORIZED: Refusal = { status: 401, headers: {} }
