import { createHmac, randomBytes } from 'node:crypto'
import { isCredentialError, TokenReviewError } from '../errors/index.ts'
import { isProgramError } from '../errors/unexpected-error.ts'
import { type Fields, isFields } from '../formats/plain-object.ts'
import { fetchOver } from '../request/fetch.ts'
import { type HasLine, type Line, lineOf } from '../request/line.ts'
import { readBodyStart } from '../request/read-body-start.ts'
import type { Authenticate, Caller } from './authenticate.ts'

/** Options of `reviewTokens`. */
export interface TokenReviewOptions {
  /**
   * The audiences of which a token must have at least one. By default those of the API server itself; with an audience
   * of its own, a token for the proxy can be used for nothing else.
   */
  readonly audiences?: readonly string[] | undefined
}

/**
 * Returns a function that finds out who a token belongs to, by asking the API server (TokenReview).
 *
 * The credential of the cluster must be allowed to create `tokenreviews`. A result is kept for a short time: a token
 * that the cluster no longer accepts is refused at most 10 s later. No token is kept.
 *
 * @example
 * const proxy = new ClusterProxy({ cluster, hosts, authenticate: reviewTokens(cluster, { audiences: ['my-proxy'] }) })
 */
export function reviewTokens(cluster: HasLine, options: TokenReviewOptions = {}): Authenticate {
  const reviews = new TokenReviews(lineOf(cluster, 'reviewTokens'), options)
  return (token) => reviews.callerOf(token)
}

const ACCEPTED_MS = 10_000
/** Short: a token of the future, or of an account that was just created, is accepted soon. */
const REFUSED_MS = 2_000
/** Results that are kept, of each kind: wrong tokens must not push out right ones. */
const MAX_RESULTS = 1_000
/** Reviews at a time: callers that are not known yet must not use up the requests of those that are. */
const MAX_REVIEWS = 32
const REVIEW_LIMIT_MS = 5_000
/** Far more than a token or the description of a user needs. */
const MAX_TOKEN_LENGTH = 16 * 1024
const MAX_RESPONSE_BYTES = 256 * 1024

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews'

/** Reviews tokens, each only once at a time, and keeps the results. */
export class TokenReviews {
  readonly #line: Line
  readonly #audiences: readonly string[]
  readonly #accepted: RecentResults<Caller>
  readonly #refused: RecentResults<true>
  readonly #running = new Map<string, Promise<Caller | undefined>>()
  /** Results are found by an HMAC of the token, so that no token is kept. */
  readonly #hashKey = randomBytes(32)

  /** @param now Milliseconds of a clock that never goes back. */
  constructor(
    line: Line,
    { audiences = [] }: TokenReviewOptions,
    now: () => number = () => performance.now(),
  ) {
    this.#line = line
    this.#audiences = [...audiences]
    this.#accepted = new RecentResults(ACCEPTED_MS, now)
    this.#refused = new RecentResults(REFUSED_MS, now)
  }

  /** Returns who has the token; undefined if the cluster does not accept it. */
  callerOf(token: string): Caller | undefined | Promise<Caller | undefined> {
    if (token.length > MAX_TOKEN_LENGTH) return undefined
    const key = createHmac('sha256', this.#hashKey).update(token).digest('base64')
    const caller = this.#accepted.get(key)
    if (caller !== undefined || this.#refused.get(key)) return caller
    return this.#running.get(key) ?? this.#start(key, token)
  }

  #start(key: string, token: string): Promise<Caller | undefined> {
    if (this.#running.size >= MAX_REVIEWS) {
      throw new TokenReviewError(`${MAX_REVIEWS} reviews are already running`, {
        hint: 'Try again.',
      })
    }
    const running = this.#review(token)
      .then((caller) => {
        if (caller === undefined) this.#refused.set(key, true)
        else this.#accepted.set(key, caller)
        return caller
      })
      .finally(() => this.#running.delete(key))
    this.#running.set(key, running)
    return running
  }

  async #review(token: string): Promise<Caller | undefined> {
    const audiences = this.#audiences
    const spec = { token, ...(audiences.length > 0 && { audiences }) }
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
    const signal = AbortSignal.timeout(REVIEW_LIMIT_MS)
    try {
      const response = await fetchOver(this.#line, PATH, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(review),
        signal,
      })
      if (response.ok) return readReview(await readJson(response), audiences)
      await response.body?.cancel()
      throw refusedReview(response.status)
    } catch (error) {
      throw signal.aborted
        ? new TokenReviewError('the server did not respond in time')
        : asReviewError(error)
    }
  }
}

/** Keeps a limited number of results for a limited time. */
class RecentResults<T> {
  readonly #ttlMs: number
  readonly #now: () => number
  readonly #entries = new Map<string, { readonly value: T; readonly until: number }>()

  constructor(ttlMs: number, now: () => number) {
    this.#ttlMs = ttlMs
    this.#now = now
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || this.#now() < entry.until) return entry?.value
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, value: T): void {
    const [oldest] = this.#entries.keys()
    if (this.#entries.size >= MAX_RESULTS && oldest !== undefined) this.#entries.delete(oldest)
    this.#entries.set(key, { value, until: this.#now() + this.#ttlMs })
  }
}

function refusedReview(status: number): TokenReviewError {
  const isForbidden = status === 401 || status === 403
  return new TokenReviewError(`the server responded ${status}`, {
    hint: isForbidden
      ? 'Allow the identity of the proxy to create tokenreviews, as the ClusterRole system:auth-delegator does.'
      : undefined,
  })
}

/** The caller gets no more than the summary: the standard error of a plugin is not for people without a valid token. */
function asReviewError(error: unknown): unknown {
  if (error instanceof TokenReviewError || isProgramError(error)) return error
  if (!isCredentialError(error))
    return new TokenReviewError('the response broke off', { cause: error })
  const { summary, hint, code } = error
  return new TokenReviewError(`${summary} (${code})`, { hint, cause: error })
}

async function readJson(response: Response): Promise<unknown> {
  const bytes = await readBodyStart(response, MAX_RESPONSE_BYTES)
  if (bytes.length > MAX_RESPONSE_BYTES) throw new TokenReviewError('the response is too large')
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw INVALID()
  }
}

const INVALID = (): TokenReviewError => new TokenReviewError('the response is not a TokenReview')

/**
 * Reads the answer of the server. Everything that is not clearly an accepted token is refused.
 *
 * A server that does not know audiences names none in its answer.
 */
function readReview(review: unknown, audiences: readonly string[]): Caller | undefined {
  const status = fieldsOf(fieldsOf(review)?.['status'])
  if (status === undefined) throw INVALID()
  if (status['authenticated'] !== true) return undefined
  const accepted = status['audiences']
  const isForUs =
    audiences.length === 0 ||
    (isTexts(accepted) && accepted.some((each) => audiences.includes(each)))
  if (!isForUs) return undefined
  const caller = readUser(fieldsOf(status['user']))
  if (caller === undefined) throw INVALID()
  return caller
}

function readUser(user: Fields | undefined): Caller | undefined {
  const { username, uid = '', groups = [] } = user ?? {}
  const extra = user?.['extra'] === undefined ? {} : fieldsOf(user['extra'])
  if (typeof username !== 'string' || username.trim() === '') return undefined
  if (typeof uid !== 'string' || !isTexts(groups) || !isExtra(extra)) return undefined
  return { user: username, ...(uid !== '' && { uid }), groups, extra }
}

function fieldsOf(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isExtra(value: Fields | undefined): value is Caller['extra'] {
  return value !== undefined && Object.values(value).every(isTexts)
}
