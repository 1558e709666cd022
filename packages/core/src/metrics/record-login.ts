import type { CredentialError, LoginError } from '../errors/index.ts'
import type { CredentialEvent } from '../ports/observer.ts'
import type { BoundedNames } from './bounded-names.ts'
import type { Instruments } from './instruments.ts'

/** Counts what an event says about a login handler; nothing for every other source. */
export function recordLogin(event: CredentialEvent, to: Instruments, handlers: BoundedNames): void {
  if (event.source.kind !== 'login') return
  const handler = handlers.labelFor(event.source.name)
  switch (event.type) {
    case 'run-succeeded':
      to.logins.increase({ handler, outcome: event.isSame ? 'same' : 'new' })
      to.loginDuration.observe(event.tookMs / 1000)
      break
    case 'run-failed':
      to.logins.increase({ handler, outcome: outcomeOf(event.error) })
      to.loginDuration.observe(event.tookMs / 1000)
      break
    case 'login-retried':
      to.loginRetries.increase({ handler })
      break
    case 'refused':
      to.loginRefused.increase({ handler })
      break
    case 'expired':
      to.loginExpired.increase({ handler })
      break
    default:
      break
  }
}

/** That a handler does not apply here is no failure. */
function outcomeOf(error: CredentialError): 'nothing' | 'failed' {
  const { outcomes } = error as Partial<LoginError>
  return outcomes?.[0]?.result === 'nothing' ? 'nothing' : 'failed'
}
