import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 82 to 89: login handlers and what they return. */
export const LOGIN_CODES = {
  ERR_LOGIN_FAILED: facts(
    82,
    'caller',
    'retryable',
    'No login handler gave a credential that works: all their logins have ended, or the time limit of the request has passed.',
    'Read what each handler said; the next request asks them again, not before nextTryAt.',
  ),
  ERR_CONNECTION_INFO: facts(
    83,
    'caller',
    'final',
    'What a login handler returned cannot be used.',
    'Correct the fields that the message names.',
  ),
  ERR_LOGIN_QUEUE_FULL: facts(
    84,
    'caller',
    'retryable',
    'As many requests wait for a login as may wait at once.',
    'Send fewer requests while nobody is logged in, or raise queueLimit of the vault.',
  ),
  ERR_LOGIN_TOOL_FAILED: facts(
    85,
    'caller',
    'retryable',
    'The program or library that a ready-made login asks, kubectl or @kubernetes/client-node, cannot be used or gave nothing that can be read.',
    'Run it by hand to see what it says, or log in without it.',
  ),
} as const

abstract class LoginFamilyError<C extends keyof typeof LOGIN_CODES> extends CredentialError<C> {
  protected override get facts(): CodeFacts {
    return LOGIN_CODES[this.code]
  }
}

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
  /** When it is asked again, in milliseconds since the epoch. */
  readonly nextTryAt?: number
}

/** Nobody could log in. `outcomes` says what every handler did. */
export class LoginError extends LoginFamilyError<'ERR_LOGIN_FAILED'> {
  readonly code = 'ERR_LOGIN_FAILED' as const
  readonly outcomes: readonly LoginOutcome[]

  /** @param now The time of day, so that the message can say how long it is until the next try. */
  constructor(
    outcomes: readonly LoginOutcome[],
    what: string,
    { now, ...init }: ErrorInit & { readonly now?: number } = {},
  ) {
    const message = `${what}${outcomes.map((each) => `; ${describeOutcome(each, now)}`).join('')}`
    super(message, { hint: hintAt(outcomes), ...init })
    this.outcomes = outcomes
  }
}

/** Fields that cannot be used, all at once. */
export class ConnectionInfoError extends LoginFamilyError<'ERR_CONNECTION_INFO'> {
  readonly code = 'ERR_CONNECTION_INFO' as const
  readonly problems: readonly string[]

  constructor(problems: readonly string[], init: ErrorInit = {}) {
    super(problems.join('; '), init)
    this.problems = problems
  }
}

export class LoginQueueFullError extends LoginFamilyError<'ERR_LOGIN_QUEUE_FULL'> {
  readonly code = 'ERR_LOGIN_QUEUE_FULL' as const

  constructor(limit: number) {
    super(`${limit} requests wait for a login already`)
  }
}

/** What a ready-made login asks did not help: a program, or a library. What it printed is never part of it. */
export class LoginToolFailedError extends LoginFamilyError<'ERR_LOGIN_TOOL_FAILED'> {
  readonly code = 'ERR_LOGIN_TOOL_FAILED' as const
  /** The program as it was called, or the name of the package. */
  readonly tool: string
  /** The last lines of a program's standard error, scrubbed. */
  readonly stderrTail: string | undefined

  /** @param what Continues the name of the tool. */
  constructor(
    tool: string,
    what: string,
    { stderrTail, ...init }: ErrorInit & { readonly stderrTail?: string | undefined } = {},
  ) {
    super(`${JSON.stringify(tool)} ${what}`, init)
    this.tool = tool
    this.stderrTail = stderrTail
  }
}

/** A handler that hangs is told apart: it failed in nothing that could be read. */
function hintAt(outcomes: readonly LoginOutcome[]): string | undefined {
  const hanging = outcomes.find(({ result, reason }) => result === 'running' && !reason)?.handler
  if (hanging === undefined) return undefined
  return `Find out why ${hanging} does not answer; with the option timeoutMs it is given up in time, and later requests ask it again.`
}

function describeOutcome(outcome: LoginOutcome, now: number | undefined): string {
  const { handler, result, attempts, reason } = outcome
  const next = describeNext(outcome, now)
  const why = reason === undefined ? '' : `: ${reason}`
  switch (result) {
    case 'credential':
      return `${handler} is logged in`
    case 'nothing':
      return `${handler} returned nothing${reason === undefined ? '' : `, since it failed${why}`}`
    case 'failed':
      return `${handler} failed${attempts > 1 ? ` after ${attempts} attempts` : ''}${why}${next}`
    case 'refused':
      return `${handler} returned what the server refuses${next}${reason === undefined ? '' : `, and logging in again failed${why}`}`
    case 'running':
      return reason === undefined
        ? `${handler} has not answered`
        : `${handler} has failed ${attempts > 1 ? `${attempts} times` : 'once'} so far${why}${next}`
  }
}

function describeNext({ nextTryAt, result }: LoginOutcome, now: number | undefined): string {
  if (nextTryAt === undefined || now === undefined) return ''
  if (nextTryAt > now) return ` (next try in ${Math.ceil((nextTryAt - now) / 1000)} s)`
  return result === 'running' ? ' (it is trying again)' : ''
}
