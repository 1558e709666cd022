import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 82 to 89: login handlers and what they return. */
export const LOGIN_CODES = {
  ERR_LOGIN_FAILED: facts(
    82,
    'caller',
    'retryable',
    'No login handler returned a working credential: all of them have finished, or the request reached its time limit.',
    'Read the reason of each handler in the message; a request after nextTryAt calls them again.',
  ),
  ERR_CONNECTION_INFO: facts(
    83,
    'caller',
    'final',
    'A login handler returned an invalid connection info.',
    'Correct the fields named in the message.',
  ),
  ERR_LOGIN_QUEUE_FULL: facts(
    84,
    'caller',
    'retryable',
    'The login queue is full: too many requests are waiting for a login.',
    'Send fewer requests during a login, or raise queueLimit of the vault.',
  ),
  ERR_LOGIN_TOOL_FAILED: facts(
    85,
    'caller',
    'retryable',
    'A ready-made login failed because kubectl or @kubernetes/client-node is unusable or returned something invalid.',
    'Run it in a terminal to see what it prints, or log in without it.',
  ),
} as const

abstract class LoginFamilyError<C extends keyof typeof LOGIN_CODES> extends CredentialError<C> {
  protected override codeFacts(): CodeFacts {
    return LOGIN_CODES[this.code]
  }
}

/** How the last login of one handler ended. */
export interface LoginOutcome {
  /** The handler's id. */
  readonly handler: string
  /**
   * `credential`: it can be used. `nothing`: the handler does not apply here. `failed`: `reason` says why. `refused`: the
   * server refused it, and it is not tried again yet. `running`: the handler has not answered yet.
   */
  readonly result:
    | 'credential'
    /** It returned nothing, because it does not apply. */
    | 'nothing'
    | 'failed'
    /** The server refused what it returned, and it is not tried again yet. */
    | 'refused'
    /** It has not finished yet. */
    | 'running'
  /** Attempts in this login so far. */
  readonly attempts: number
  /** Why it failed, without secrets. */
  readonly reason?: string
  /** When it is called again, in milliseconds since the epoch. */
  readonly nextTryAt?: number
}

/** No login handler returned a working credential. `outcomes` says what each handler did. */
export class LoginError extends LoginFamilyError<'ERR_LOGIN_FAILED'> {
  static readonly code = 'ERR_LOGIN_FAILED'
  readonly outcomes: readonly LoginOutcome[]

  /** @param now The current time, so that the message can say when the next attempt is. */
  constructor(
    outcomes: readonly LoginOutcome[],
    what: string,
    { now, ...init }: ErrorInit & { readonly now?: number } = {},
  ) {
    const message = `${what}${outcomes.map((each) => `; ${describeOutcome(each, now)}`).join('')}`
    super(message, { hint: hangHint(outcomes), ...init })
    this.outcomes = outcomes
  }
}

/** A login handler returned an invalid connection info; `problems` lists all invalid fields. */
export class ConnectionInfoError extends LoginFamilyError<'ERR_CONNECTION_INFO'> {
  static readonly code = 'ERR_CONNECTION_INFO'
  readonly problems: readonly string[]

  constructor(problems: readonly string[], init: ErrorInit = {}) {
    super(problems.join('; '), init)
    this.problems = problems
  }
}

/** Too many requests are waiting for a login. */
export class LoginQueueFullError extends LoginFamilyError<'ERR_LOGIN_QUEUE_FULL'> {
  static readonly code = 'ERR_LOGIN_QUEUE_FULL'

  constructor(limit: number) {
    super(`login queue is full: ${limit} requests are already waiting`)
  }
}

/** The program or library that a ready-made login uses failed. The error never contains its standard output. */
export class LoginToolFailedError extends LoginFamilyError<'ERR_LOGIN_TOOL_FAILED'> {
  static readonly code = 'ERR_LOGIN_TOOL_FAILED'
  /** The program as configured, or the name of the package. */
  readonly tool: string
  /** The last lines of the program's standard error, scrubbed; absent if there were none. */
  declare readonly stderrTail?: string

  /** @param what Continues the name of the tool. */
  constructor(
    tool: string,
    what: string,
    { stderrTail, ...init }: ErrorInit & { readonly stderrTail?: string | undefined } = {},
  ) {
    super(`${JSON.stringify(tool)} ${what}`, init)
    this.tool = tool
    if (stderrTail !== undefined) this.stderrTail = stderrTail
  }
}

/** A handler that hangs has no reason that could be read, so the hint names it. */
function hangHint(outcomes: readonly LoginOutcome[]): string | undefined {
  const hanging = outcomes.find(({ result, reason }) => result === 'running' && !reason)?.handler
  if (hanging === undefined) return undefined
  return `Find out why login handler ${hanging} hangs, or set its timeoutMs so that later requests call it again.`
}

function describeOutcome(outcome: LoginOutcome, now: number | undefined): string {
  const { handler, result, attempts, reason } = outcome
  const next = describeNext(outcome, now)
  const why = reason === undefined ? '' : `: ${reason}`
  switch (result) {
    case 'credential':
      return `${handler} is logged in`
    case 'nothing':
      return `${handler} returned nothing${reason === undefined ? '' : ` after it failed${why}`}`
    case 'failed':
      return `${handler} failed${attempts > 1 ? ` after ${attempts} attempts` : ''}${why}${next}`
    case 'refused':
      return `${handler} returned a credential that the server refused${next}${reason === undefined ? '' : `, and a new login failed${why}`}`
    case 'running':
      return reason === undefined
        ? `${handler} has not finished`
        : `${handler} has failed ${attempts > 1 ? `${attempts} times` : 'once'} so far${why}${next}`
  }
}

function describeNext({ nextTryAt, result }: LoginOutcome, now: number | undefined): string {
  if (nextTryAt === undefined || now === undefined) return ''
  if (nextTryAt > now) return ` (next attempt in ${Math.ceil((nextTryAt - now) / 1000)} s)`
  return result === 'running' ? ' (retrying now)' : ''
}
