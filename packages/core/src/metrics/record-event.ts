import type { CredentialError, LoginError } from '../errors/index.ts'
import type { CredentialEvent, SourceLabel } from '../ports/observer.ts'
import { describeCall, type RunEnd } from './call-status.ts'
import type { Instruments } from './instruments.ts'

/** A program has a few login handlers; one that makes up names must not make up metrics with them. */
const MAX_HANDLERS = 50

/** Counts what events say. Metrics that are named after exec plugins count no other source. */
export class Recorder {
  readonly #to: Instruments
  readonly #now: () => number
  readonly #handlers = new Set<string>()

  constructor(to: Instruments, now: () => number) {
    this.#to = to
    this.#now = now
  }

  record(event: CredentialEvent): void {
    const to = this.#to
    const { source } = event
    switch (event.type) {
      case 'run-succeeded':
      case 'run-failed':
        to.refreshes.inc({ reason: event.reason, source: source.kind, outcome: outcomeOf(event) })
        if (source.kind === 'exec') this.#recordPlugin(event)
        if (source.kind === 'login') this.#recordLogin(event)
        break
      case 'policy':
        if (source.kind === 'exec') to.policyCalls.inc({ status: event.verdict })
        break
      case 'ca-reload':
        to.caReloads.inc({ result: event.result, reason: event.reason })
        break
      case 'refused':
        to.refused.inc({ status: String(event.status) })
        if (source.kind === 'login') to.loginRefused.inc({ handler: this.#handlerOf(source) })
        break
      case 'retried':
        to.retried.inc()
        break
      case 'login-retried':
        to.loginRetries.inc({ handler: this.#handlerOf(source) })
        break
      case 'expired':
        to.loginExpired.inc({ handler: this.#handlerOf(source) })
        break
      case 'depleted':
        to.depletions.inc()
        break
      case 'thawed':
        to.frozenSeconds.inc(event.frozenMs / 1000)
        break
      case 'failed':
        to.givenUp.inc()
        break
      default:
        break
    }
  }

  #recordPlugin(event: RunEnd): void {
    const { calls, runDuration, rotationAge } = this.#to
    const call = describeCall(event)
    if (call !== undefined) calls.inc(call)
    if (event.process?.isStarted) runDuration.observe(event.process.tookMs / 1000)
    if (event.type === 'run-failed' || event.replaced === undefined) return
    rotationAge.observe((this.#now() - event.replaced.notBefore) / 1000)
  }

  #recordLogin(event: RunEnd): void {
    const isNothing = event.type === 'run-failed' && hasNothing(event.error)
    const outcome = isNothing ? 'nothing' : outcomeOf(event)
    this.#to.logins.inc({ handler: this.#handlerOf(event.source), outcome })
    this.#to.loginDuration.observe(event.tookMs / 1000)
  }

  /** The handler's name, or `other` when as many are known as there is room for. */
  #handlerOf({ name }: SourceLabel): string {
    if (!this.#handlers.has(name) && this.#handlers.size >= MAX_HANDLERS) return 'other'
    this.#handlers.add(name)
    return name
  }
}

function outcomeOf(event: RunEnd): 'new' | 'same' | 'failed' {
  if (event.type === 'run-failed') return 'failed'
  return event.isSame ? 'same' : 'new'
}

/** Whether a handler does not apply here, which is no failure. */
function hasNothing(error: CredentialError): boolean {
  const { outcomes } = error as Partial<LoginError>
  return outcomes?.[0]?.result === 'nothing'
}
