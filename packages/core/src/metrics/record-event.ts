import type { CredentialError, LoginError } from '../errors/index.ts'
import type { CredentialEvent, SourceLabel } from '../ports/observer.ts'
import { describeCall, type RunEnd } from './call-status.ts'
import type { Instruments } from './instruments.ts'

/** Limits the label values: a program that generates handler names must not create metrics without bound. */
const MAX_HANDLERS = 50

/** Updates the metrics from events. Metrics named after exec plugins count no other source. */
export class Recorder {
  readonly #metrics: Instruments
  readonly #now: () => number
  readonly #handlers = new Set<string>()

  constructor(metrics: Instruments, now: () => number) {
    this.#metrics = metrics
    this.#now = now
  }

  record(event: CredentialEvent): void {
    const metrics = this.#metrics
    const { source } = event
    switch (event.type) {
      case 'run-succeeded':
      case 'run-failed':
        metrics.refreshes.inc({
          reason: event.reason,
          source: source.kind,
          outcome: outcomeOf(event),
        })
        if (source.kind === 'exec') this.#recordPlugin(event)
        if (source.kind === 'login') this.#recordLogin(event)
        break
      case 'policy':
        if (source.kind === 'exec') metrics.policyCalls.inc({ status: event.verdict })
        break
      case 'ca-reload':
        metrics.caReloads.inc({ result: event.result, reason: event.reason })
        break
      case 'refused':
        metrics.refused.inc({ status: String(event.status) })
        if (source.kind === 'login') metrics.loginRefused.inc({ handler: this.#handlerOf(source) })
        break
      case 'retried':
        metrics.retried.inc()
        break
      case 'login-retried':
        metrics.loginRetries.inc({ handler: this.#handlerOf(source) })
        break
      case 'expired':
        metrics.loginExpired.inc({ handler: this.#handlerOf(source) })
        break
      case 'depleted':
        metrics.depletions.inc()
        break
      case 'thawed':
        metrics.frozenSeconds.inc(event.frozenMs / 1000)
        break
      case 'failed':
        metrics.givenUp.inc()
        break
      default:
        break
    }
  }

  #recordPlugin(event: RunEnd): void {
    const { calls, runDuration, rotationAge } = this.#metrics
    const call = describeCall(event)
    if (call !== undefined) calls.inc(call)
    if (event.process?.isStarted) runDuration.observe(event.process.tookMs / 1000)
    if (event.type === 'run-failed' || event.replaced === undefined) return
    rotationAge.observe((this.#now() - event.replaced.notBefore) / 1000)
  }

  #recordLogin(event: RunEnd): void {
    const isNothing = event.type === 'run-failed' && isNotApplicable(event.error)
    const outcome = isNothing ? 'nothing' : outcomeOf(event)
    this.#metrics.logins.inc({ handler: this.#handlerOf(event.source), outcome })
    this.#metrics.loginDuration.observe(event.tookMs / 1000)
  }

  /** Returns the handler's name, or `other` for names beyond the limit. */
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

/** Whether the handler returned undefined because it does not apply. That is not a failure. */
function isNotApplicable(error: CredentialError): boolean {
  const { outcomes } = error as Partial<LoginError>
  return outcomes?.[0]?.result === 'nothing'
}
