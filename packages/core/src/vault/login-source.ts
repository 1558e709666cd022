import { LoginError } from '../errors/index.ts'
import type { Clock } from '../ports/clock.ts'
import type { SourceLabel } from '../ports/observer.ts'
import type { Acquired, Credential } from '../protocol/credential.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import type { Ask, Source } from '../sources/source.ts'
import type { Login } from './connection-info.ts'
import { logIn, type RegisteredHandler } from './log-in.ts'
import type { LoginLogger, RefusedLogin } from './login-handler.ts'

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
    const refused = this.#refusedBy(ask)
    const info = await logIn(
      this.#registered,
      {
        reason: this.#ports.isDepleted() && ask.reason !== 'first' ? 'depleted' : ask.reason,
        ...(refused && { refused }),
        signal: ask.signal,
        logger: loggerOf(ask),
        onRetry: (outcome) => ask.report({ type: 'login-retried', outcome }),
      },
      clock,
    )
    if (info === undefined) {
      const nothing = { handler: this.#registered.id, result: 'nothing', attempts: 1 } as const
      throw new LoginError([nothing], 'nobody is logged in')
    }
    const opened = await this.#ports.open(info.login)
    const { endpoint, ...acquired } = await opened
      .acquire(ask, this.#last)
      .catch(async (error: unknown) => {
        await opened.release()
        throw error
      })
    ask.signal.throwIfAborted()
    this.#follow(opened)
    this.#server = info.server
    this.#last = acquired.credential
    const expiresAt = Math.min(acquired.expiresAt, info.login.expiresAt)
    return { ...acquired, expiresAt, ...(endpoint && { endpoint }) }
  }

  #refusedBy({ reason, response }: Ask): RefusedLogin | undefined {
    if (reason !== 'refused' || response === undefined) return undefined
    return { server: this.#server, status: response.code, at: this.#ports.clock.now() }
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

function loggerOf({ report }: Ask): LoginLogger {
  const log = (level: keyof LoginLogger) => (message: string) =>
    report({ type: 'log', level, message: scrub(showControlCharacters(String(message))) })
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}
