/** A Kubernetes `Status`, the body of every error response. */
export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: Readonly<Record<string, never>>
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code: number
}

/** What a `Status` is about. */
export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly { reason: string; message: string; field: string }[]
}

const CODES = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  InternalError: 500,
} as const

/** The Kubernetes reason of a failed request. */
export type Reason = keyof typeof CODES

/** Creates the `Status` of a failure, with its fields in the order of Kubernetes. */
export function failure(reason: Reason, message: string, details?: StatusDetails): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code: CODES[reason],
  }
}

/** An error that is answered with a `Status`. */
export class StatusError extends Error {
  readonly status: Status

  constructor(reason: Reason, message: string, details?: StatusDetails) {
    super(message)
    this.name = 'StatusError'
    this.status = failure(reason, message, details)
  }
}
