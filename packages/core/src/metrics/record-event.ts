import type { CredentialEvent } from '../ports/observer.ts'
import { describeCall, type RunEnd } from './call-status.ts'
import type { Instruments } from './instruments.ts'

/** Counts what an event says. What is named after exec plugins counts nothing else. */
export function recordEvent(event: CredentialEvent, to: Instruments, now: number): void {
  switch (event.type) {
    case 'run-succeeded':
    case 'run-failed':
      recordRun(event, to, now)
      break
    case 'policy':
      if (isExec(event)) to.policyCalls.increase({ status: event.verdict })
      break
    case 'refused':
      to.refused.increase({ status: String(event.status) })
      break
    case 'retried':
      to.retried.increase({})
      break
    case 'borrowed':
      to.certificates.borrow(event.source, event.certificate?.notAfter)
      if (isExec(event)) to.ttl.borrow(event.source, event.certificate?.notAfter)
      break
    case 'ca-reload':
      to.caReloads.increase({ result: event.result, reason: event.reason })
      break
    case 'released':
      to.certificates.release(event.source)
      to.ttl.release(event.source)
      break
    case 'run-started':
    case 'plugin-started':
    case 'plugin-ended':
    case 'plugin-stderr':
    case 'user-prompt':
    case 'prompt-ended':
    case 'signed':
    case 'sign-failed':
    case 'retired':
    case 'warning':
    case 'unexpected-error':
    case 'logged-in':
    case 'login-retried':
    case 'log':
    case 'expired':
    case 'frozen':
      break
    case 'depleted':
      to.depletions.increase({})
      break
    case 'thawed':
      to.frozenSeconds.increase({}, event.frozenMs / 1000)
      break
    case 'failed':
      to.givenUp.increase({})
      break
  }
}

function recordRun(event: RunEnd, to: Instruments, now: number): void {
  const { reason, source } = event
  to.refreshes.increase({ reason, source: source.kind, outcome: outcomeOf(event) })
  // A failed run leaves the certificate that we hold in its place.
  if (event.type !== 'run-failed') to.certificates.set(source, event.certificate?.notAfter)
  if (!isExec(event)) return
  const call = describeCall(event)
  if (call !== undefined) to.calls.increase(call)
  if (event.process?.isStarted) to.runDuration.observe(event.process.tookMs / 1000)
  if (event.type === 'run-failed') return
  to.ttl.set(source, event.certificate?.notAfter)
  if (event.replaced) to.rotationAge.observe((now - event.replaced.notBefore) / 1000)
}

function outcomeOf(event: RunEnd): 'new' | 'same' | 'failed' {
  if (event.type === 'run-failed') return 'failed'
  return event.isSame ? 'same' : 'new'
}

function isExec({ source }: CredentialEvent): boolean {
  return source.kind === 'exec'
}
