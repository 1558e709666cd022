import { CredentialError, type ErrorInit } from './credential-error.ts'

/** How the last login of one handler ended. */
export interface LoginOutcome {
  /** The handler's id. */
  readonly handler: string
  readonly result:
    | 'credential'
    /** It returned nothing: it does not apply here. */
    | 'nothing'
    | 'failed'
    /** What it returned was refused by the server, and is not tried again yet. */
    | 'refused'
    /** It has not answered yet. */
    | 'running'
  /** Attempts of this login so far. */
  readonly attempts: number
  /** Why it failed, in words without secrets. */
  readonly reason?: string
}

/** Nobody could log in. `outcomes` says what every handler did. */
export class LoginError extends CredentialError<'ERR_LOGIN_FAILED'> {
  readonly code = 'ERR_LOGIN_FAILED' as const
  readonly outcomes: readonly LoginOutcome[]

  constructor(outcomes: readonly LoginOutcome[], what: string, init: ErrorInit = {}) {
    super(`${what}${outcomes.map((each) => `; ${describeOutcome(each)}`).join('')}`, init)
    this.outcomes = outcomes
  }
}

/** Fields that cannot be used, all at once. */
export class ConnectionInfoError extends CredentialError<'ERR_CONNECTION_INFO'> {
  readonly code = 'ERR_CONNECTION_INFO' as const
  readonly problems: readonly string[]

  constructor(problems: readonly string[], init: ErrorInit = {}) {
    super(problems.join('; '), init)
    this.problems = problems
  }
}

export class LoginQueueFullError extends CredentialError<'ERR_LOGIN_QUEUE_FULL'> {
  readonly code = 'ERR_LOGIN_QUEUE_FULL' as const

  constructor(limit: number) {
    super(`${limit} requests wait for a login already`)
  }
}

function describeOutcome({ handler, result, attempts, reason }: LoginOutcome): string {
  const tries = attempts > 1 ? ` after ${attempts} attempts` : ''
  const why = reason === undefined ? '' : `: ${reason}`
  switch (result) {
    case 'credential':
      return `${handler} is logged in`
    case 'nothing':
      return `${handler} returned nothing`
    case 'failed':
      return `${handler} failed${tries}${why}`
    case 'refused':
      return `${handler} returned what the server refuses`
    case 'running':
      return `${handler} has not answered${tries}${why}`
  }
}
