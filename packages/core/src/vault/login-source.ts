import type { Credential } from '../credential/credential.ts'
import { isCredentialError, LoginError, type LoginOutcome } from '../errors/index.ts'
import { acquiredSecrets, partsOf } from '../keeper/lease.ts'
import type { Clock } from '../ports/clock.ts'
import type { LoginCause, SourceLabel } from '../ports/observer.ts'
import { Secret } from '../secret/secret.ts'
import type { AcquireContext, Acquired, Report, Source } from '../sources/source.ts'
import type { ConnectionInfo } from './connection-info.ts'
import { clean, describeThrown, logIn, printableCause, type RegisteredHandler } from './log-in.ts'
import type { LoginLogger, RefusedLogin } from './login-handler.ts'
import type { LoginDetails } from './login-history.ts'
import type { Login } from './read-connection-info.ts'
import type { Observable } from './vault-observers.ts'

/** Which successful logins are reported: all, each handler's first, or none. */
export type LoginLog = 'all' | 'first' | 'none'

/** An opened login: its files are read and watched, its plugin can run, until it is released. */
export interface OpenedLogin {
  /** @param last The credential returned before, so that a refusal is passed on to the plugin that produced it. */
  acquire(ask: AcquireContext, last: Credential | undefined): Promise<Acquired>
  release(): Promise<void>
}

/** What an opened login calls while it is open. */
export interface LoginListener {
  /** A newer credential is available or, without an argument, another file of the login has changed. */
  onChange(newer?: Credential): void
  /** Reports events outside of a run. */
  report(event: Report): void
  /** Adds the vault's observers to a keeper that other connections share. Returns a function that removes them. */
  observe(keeper: Observable): () => void
}

/** Opens the login that a handler returned. */
export type OpenLogin = (login: Login, listener: LoginListener) => Promise<OpenedLogin>

/** What a login source needs. */
export interface LoginPorts extends Omit<LoginListener, 'onChange'> {
  readonly clock: Clock
  readonly open: OpenLogin
  readonly log: LoginLog
  /** Whether no handler has a usable credential. */
  isDepleted(): boolean
  /** Called after an attempt that will be followed by another, before it is reported. */
  onRetry(outcome: LoginOutcome, nextTryAt: number): void
  /** Called after a successful login, before it is reported. */
  onLogin(facts: LoginDetails): void
}

/** How many secrets of earlier logins are removed from a handler's errors and log lines. */
const MAX_SECRETS = 20

/** A login handler as a source: each run is one login with its attempts. */
export class LoginSource implements Source {
  readonly label: SourceLabel
  readonly #registered: RegisteredHandler
  readonly #ports: LoginPorts
  #opened: OpenedLogin | undefined
  #onChange: (() => void) | undefined
  #isRunning = false
  /** A newer credential reported during a run; it may be the one that the run returns. */
  #newer: Credential | undefined
  #server = ''
  #last: Credential | undefined
  #secrets: readonly Secret[] = []

  constructor(registered: RegisteredHandler, ports: LoginPorts) {
    this.#registered = registered
    this.#ports = ports
    this.label = { kind: 'login', name: registered.id }
  }

  readonly watch = (onChange: () => void): (() => void) => {
    this.#onChange = onChange
    return () => {
      this.#onChange = undefined
      this.#follow(undefined)
    }
  }

  async acquire(ask: AcquireContext): Promise<Acquired> {
    this.#isRunning = true
    try {
      return await this.#acquire(ask)
    } finally {
      this.#isRunning = false
      const newer = this.#newer
      this.#newer = undefined
      if (newer !== undefined) this.#noteChange(newer)
    }
  }

  async #acquire(ask: AcquireContext): Promise<Acquired> {
    const { clock } = this.#ports
    const startedAt = clock.now()
    const reason = this.#ports.isDepleted() && ask.reason !== 'first' ? 'depleted' : ask.reason
    const { info, attempts } = await this.#logIn(ask, reason)
    const { login, server } = info
    const acquired = await this.#open(login, ask, attempts)
    const expiresAt = Math.min(acquired.expiresAt, login.expiresAt)
    const { impersonate } = login.connection.user
    this.#server = server
    this.#last = acquired.credential
    const facts: LoginDetails = {
      reason,
      server,
      attempts,
      tookMs: Math.max(0, clock.now() - startedAt),
      expiresAt: Number.isFinite(expiresAt) ? expiresAt : undefined,
      parts: partsOf(acquired.credential),
      priority: login.priority,
      ...(impersonate && { as: impersonate.user }),
    }
    this.#ports.onLogin(facts)
    if (this.#isReported(reason)) ask.report({ type: 'logged-in', ...facts })
    return { ...acquired, expiresAt }
  }

  async #logIn(
    ask: AcquireContext,
    reason: LoginCause,
  ): Promise<{ readonly info: ConnectionInfo; readonly attempts: number }> {
    const refused = this.#refusedBy(ask)
    let attempts = 1
    let ignored: string | undefined
    const info = await logIn(
      this.#registered,
      {
        reason,
        ...(refused && { refused }),
        signal: ask.signal,
        logger: this.#loggerOf(ask, reason),
        secrets: this.#secrets,
        onRetry: (outcome, nextTryAt) => {
          attempts = outcome.attempts + 1
          this.#ports.onRetry(outcome, nextTryAt)
          ask.report({ type: 'login-retried', outcome, nextTryAt })
        },
        onIgnored: (why) => {
          ignored = why
        },
      },
      this.#ports.clock,
    )
    if (info !== undefined) return { info, attempts }
    const outcome = this.#outcome('nothing', attempts, ignored)
    throw new LoginError([outcome], 'no login is available')
  }

  /** Opens a login: reads its files and runs its plugin, if it names any. Releases it again on failure. */
  async #open(login: Login, ask: AcquireContext, attempts: number): Promise<Acquired> {
    this.#remember(loginSecrets(login))
    let opened: OpenedLogin | undefined
    try {
      const { report, observe } = this.#ports
      const onChange = (newer?: Credential): void => this.#noteChange(newer)
      opened = await this.#ports.open(login, { onChange, report, observe })
      const acquired = await opened.acquire(ask, this.#last)
      ask.signal.throwIfAborted()
      this.#remember(acquiredSecrets(acquired))
      this.#follow(opened)
      return acquired
    } catch (error) {
      await opened?.release()
      ask.signal.throwIfAborted()
      if (isCredentialError(error)) throw error
      // Waiting requests must be rejected with a CredentialError.
      const outcome = this.#outcome('failed', attempts, describeThrown(error, 0, this.#secrets))
      throw new LoginError([outcome], 'the login failed', {
        cause: printableCause(error, this.#secrets),
      })
    }
  }

  #outcome(result: LoginOutcome['result'], attempts: number, reason?: string): LoginOutcome {
    const handler = this.#registered.id
    return { handler, result, attempts, ...(reason !== undefined && { reason }) }
  }

  /** Keeps the secrets of this login and some before it: a handler may mention what it returned last. */
  #remember(secrets: readonly Secret[]): void {
    this.#secrets = [...secrets, ...this.#secrets].slice(0, MAX_SECRETS)
  }

  #refusedBy({ reason, refusal }: AcquireContext): RefusedLogin | undefined {
    if (reason !== 'refused' || refusal === undefined) return undefined
    return { server: this.#server, status: refusal.status, at: this.#ports.clock.now() }
  }

  /** Keeps this login open until the next one replaces it. */
  #follow(opened: OpenedLogin | undefined): void {
    void this.#opened?.release()
    this.#opened = opened
  }

  /** A newer credential counts as a change only if neither the last run nor the running one returned it. */
  #noteChange(newer: Credential | undefined): void {
    if (newer !== undefined && this.#isRunning) this.#newer = newer
    else if (newer === undefined || !isSame(newer, this.#last)) this.#onChange?.()
  }

  /** Whether this login is reported if it succeeds. Failures always are. */
  #isReported(reason: LoginCause): boolean {
    const { log } = this.#ports
    return log === 'all' || (log === 'first' && reason === 'first')
  }

  #loggerOf({ report }: AcquireContext, reason: LoginCause): LoginLogger {
    const write = (level: keyof LoginLogger) => (message: string) =>
      report({ type: 'log', level, message: clean(String(message), this.#secrets), reason })
    const quiet = this.#isReported(reason) ? write : () => () => {}
    return {
      debug: quiet('debug'),
      info: quiet('info'),
      warn: write('warn'),
      error: write('error'),
    }
  }
}

/** Whether two credentials are the same to a server. */
export function isSame(one: Credential, other: Credential | undefined): boolean {
  return (
    other !== undefined &&
    one.token?.expose() === other.token?.expose() &&
    one.certificate?.chain === other.certificate?.chain &&
    one.basic?.password.expose() === other.basic?.password.expose()
  )
}

/** A scheme such as `Bearer` is not a secret; a longer one may be a whole header. */
const MAX_PUBLIC_SCHEME = 10

/** Returns the secrets of a login, to remove them from text. */
export function loginSecrets({ connection, scheme }: Login): readonly Secret[] {
  const { user, cluster } = connection
  const { token, basic, certificate } = user
  const key = certificate?.key
  return [
    token,
    basic?.password,
    key?.from === 'data' ? key.data : undefined,
    cluster.proxyUrl,
    ...passwordsIn(cluster.proxyUrl),
    scheme !== undefined && scheme.length > MAX_PUBLIC_SCHEME ? new Secret(scheme) : undefined,
  ].filter((secret) => secret !== undefined)
}

/** Returns the password in a URL, percent-encoded and decoded. */
function passwordsIn(address: Secret | undefined): readonly Secret[] {
  const password = /:\/\/[^/@]*?:([^/]*)@/.exec(address?.expose() ?? '')?.[1]
  if (password === undefined) return []
  return [new Secret(password), new Secret(decode(password))]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
