import type { Credential } from '../credential/credential.ts'
import { isCredentialError, LoginError, type LoginOutcome } from '../errors/index.ts'
import { acquiredSecrets, partsOf } from '../keeper/lease.ts'
import type { Clock } from '../ports/clock.ts'
import type { LoginCause, SourceLabel } from '../ports/observer.ts'
import { Secret } from '../secret/secret.ts'
import type { Acquired, Ask, Source } from '../sources/source.ts'
import type { ConnectionInfo } from './connection-info.ts'
import { clean, describeThrown, logIn, printableCause, type RegisteredHandler } from './log-in.ts'
import type { LoginLogger, RefusedLogin } from './login-handler.ts'
import type { Login } from './read-connection-info.ts'

/** What a login leads to: files are read, plugins can be run. */
export interface OpenedLogin {
  /** @param last What was given before, so that a refusal is told to where it came from. */
  acquire(ask: Ask, last: Credential | undefined): Promise<Acquired>
  /** Calls back when a file behind it was written. Returns how to stop. */
  watch(onChange: () => void): () => void
  release(): Promise<void>
}

export interface LoginPorts {
  readonly clock: Clock
  /** Opens what a handler returned; what is the same as before should be shared with it. */
  open(login: Login): Promise<OpenedLogin>
  /** Whether no handler has anything left. */
  isDepleted(): boolean
}

/** How many secrets of earlier logins are looked for in what a handler says. */
const MOST_SECRETS = 20

/** A login handler as a source: every run is one login with its attempts. */
export class LoginSource implements Source {
  readonly label: SourceLabel
  readonly #registered: RegisteredHandler
  readonly #ports: LoginPorts
  #opened: OpenedLogin | undefined
  #onChange: (() => void) | undefined
  #stopWatching: (() => void) | undefined
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
    this.#stopWatching = this.#opened?.watch(onChange)
    return () => this.#close()
  }

  async acquire(ask: Ask): Promise<Acquired> {
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
    ask.report({
      type: 'logged-in',
      reason,
      server,
      attempts,
      tookMs: Math.max(0, clock.now() - startedAt),
      expiresAt: Number.isFinite(expiresAt) ? expiresAt : undefined,
      holds: partsOf(acquired.credential),
      priority: login.priority,
      ...(impersonate && { as: impersonate.user }),
    })
    return { ...acquired, expiresAt }
  }

  async #logIn(
    ask: Ask,
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
        logger: loggerOf(ask, reason, () => this.#secrets),
        secrets: this.#secrets,
        onRetry: (outcome, nextTryAt) => {
          attempts = outcome.attempts + 1
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
    throw new LoginError([outcome], 'nobody is logged in')
  }

  /** Reads files and asks a plugin, where the login names them. What was opened in vain is given back. */
  async #open(login: Login, ask: Ask, attempts: number): Promise<Acquired> {
    this.#remember(loginSecrets(login))
    let opened: OpenedLogin | undefined
    try {
      opened = await this.#ports.open(login)
      const acquired = await opened.acquire(ask, this.#last)
      ask.signal.throwIfAborted()
      this.#remember(acquiredSecrets(acquired))
      this.#follow(opened)
      return acquired
    } catch (error) {
      await opened?.release()
      ask.signal.throwIfAborted()
      if (isCredentialError(error)) throw error
      // Nobody waits for an error that is not ours: it must become one.
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

  /** Of this login and a few before: a handler may speak of what it gave last. */
  #remember(secrets: readonly Secret[]): void {
    this.#secrets = [...secrets, ...this.#secrets].slice(0, MOST_SECRETS)
  }

  #refusedBy({ reason, refusal }: Ask): RefusedLogin | undefined {
    if (reason !== 'refused' || refusal === undefined) return undefined
    return { server: this.#server, status: refusal.status, at: this.#ports.clock.now() }
  }

  #follow(opened: OpenedLogin): void {
    this.#stopWatching?.()
    void this.#opened?.release()
    this.#opened = opened
    this.#stopWatching = this.#onChange && opened.watch(this.#onChange)
  }

  #close(): void {
    this.#stopWatching?.()
    void this.#opened?.release()
    this.#opened = undefined
  }
}

function loggerOf(
  { report }: Ask,
  reason: LoginCause,
  secrets: () => readonly Secret[],
): LoginLogger {
  const log = (level: keyof LoginLogger) => (message: string) =>
    report({ type: 'log', level, message: clean(String(message), secrets()), reason })
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}

/** A word such as `Bearer` is not worth hiding; a scheme that is longer may be a whole header. */
const LONGEST_WORD = 10

/** Everything in a login that must not show in what is said about it. */
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
    scheme !== undefined && scheme.length > LONGEST_WORD ? new Secret(scheme) : undefined,
  ].filter((secret) => secret !== undefined)
}

/** The password of an address by itself, as it stands there and as it is meant. */
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
