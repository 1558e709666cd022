import { printableLine } from '@kubecred/cli/internal'
import type { CredentialEvent, Observer } from 'kubecred'
import { count } from './counters.ts'
import type { DemoUser } from './demo-user.ts'
import { type Level, NO_BREAK } from './output.ts'
import type { RequestResult, Traffic } from './traffic.ts'

type Succeeded = Extract<CredentialEvent, { type: 'run-succeeded' }>
type Signed = Extract<CredentialEvent, { type: 'signed' }>

/** What a reporter needs. */
export interface ReporterOptions {
  readonly report: (sentence: string, level?: Level) => void
  readonly traffic: Traffic
  readonly now: () => number
}

/** What is remembered about a user between two events. */
interface UserState {
  runs: number
  /** Requests completed when the run started. */
  completedBefore: number
  expiresAt: number | undefined
  /** Whether a new certificate has not been used in a handshake yet. */
  isCertificateNew: boolean
  /** Whether the server has refused the current credential. */
  isRefused: boolean
  signatures: number
}

/** Reports in sentences what happens to the users' credentials. */
export class EventReporter {
  readonly #options: ReporterOptions

  constructor(options: ReporterOptions) {
    this.#options = options
  }

  /** Returns an observer for `connect()`. */
  observerFor(user: DemoUser): Observer {
    const state: UserState = {
      runs: 0,
      completedBefore: 0,
      expiresAt: undefined,
      isCertificateNew: false,
      isRefused: false,
      signatures: 0,
    }
    return (event) => this.#onEvent(user, state, event)
  }

  #onEvent(user: DemoUser, state: UserState, event: CredentialEvent): void {
    const { report, traffic, now } = this.#options
    const { id } = user
    switch (event.type) {
      case 'run-started':
        state.completedBefore = traffic.completed(id)
        break
      case 'run-succeeded':
        state.runs += 1
        this.#reportRun(user, state, event)
        state.expiresAt = event.expiresAt
        state.isRefused = false
        break
      case 'refused':
        state.isRefused = true
        break
      case 'run-failed': {
        const pause = Math.ceil((event.nextTryAt - now()) / 1000)
        report(
          `The ${programOf(user)} of ${id} failed: ${printableLine(event.error.message)}. Next try in ${pause} s.`,
          'failure',
        )
        break
      }
      case 'signed':
        state.signatures += 1
        this.#reportSignature(user, state, event)
        break
      case 'sign-failed':
        if (event.error !== undefined)
          report(`${id} cannot sign: ${printableLine(event.error.message)}`, 'failure')
        break
      case 'warning':
        report(`Warning about ${id}: ${printableLine(event.message)}`, 'warning')
        break
      default:
    }
  }

  #reportRun(user: DemoUser, state: UserState, event: Succeeded): void {
    if (event.isSame) return
    if (user.keyLocation !== undefined) {
      state.isCertificateNew = true
      return
    }
    // A refusal during a run ahead of time waits for that run.
    if (event.reason === 'ahead' && !state.isRefused) this.#reportAhead(user, state, event)
    else this.#reportWait(user, state, event)
  }

  #reportAhead({ id, credential }: DemoUser, state: UserState, { tookMs }: Succeeded): void {
    const { report, traffic, now } = this.#options
    const left = Math.max(0, Math.round(((state.expiresAt ?? now()) - now()) / 1000))
    const served = traffic.completed(id) - state.completedBefore
    const meanwhile = served > 0 ? `; ${count(served, 'request')} completed meanwhile.` : '.'
    report(
      credential === 'token'
        ? `${id}'s token had ${left}${NO_BREAK}s left, so the plugin was run ahead of time (${took(tookMs)}). No request waited${meanwhile}`
        : `${id} has a new certificate, ${left}${NO_BREAK}s before the old one expires. New requests use it; the open watch continues on its connection.`,
    )
  }

  /** Reports the requests that had to wait, once they have completed. */
  #reportWait(
    { id, credential }: DemoUser,
    { runs, isRefused }: UserState,
    { tookMs }: Succeeded,
  ): void {
    const { report, traffic } = this.#options
    const reason = isRefused
      ? `The server refused ${id}'s ${credential}`
      : runs === 1
        ? `${id} needs a ${credential}`
        : `${id}'s ${credential} had expired`
    Promise.all(traffic.pending(id)).then(
      (waited) =>
        report(
          `${reason}: one plugin run (${took(tookMs)}), ${describeWaiting(waited)}.`,
          isRefused ? 'recovery' : 'info',
        ),
      () => {},
    )
  }

  #reportSignature({ id, keyLocation = '' }: DemoUser, state: UserState, { tookMs }: Signed): void {
    const { report } = this.#options
    const isFirst = state.signatures === 1
    if (!state.isCertificateNew && !isFirst) return
    state.isCertificateNew = false
    report(
      isFirst
        ? `${id}'s key signed a TLS handshake (${took(tookMs)}) in ${keyLocation}. The key never enters this process.`
        : `${id} has a new certificate, and its key in ${keyLocation} signed the next handshake (${took(tookMs)}).`,
    )
  }
}

function programOf({ keyLocation }: DemoUser): string {
  return keyLocation === undefined ? 'plugin' : 'signer'
}

function describeWaiting(waited: readonly RequestResult[]): string {
  if (waited.length === 0) return 'no request waited'
  const longest = Math.max(...waited.map(({ tookMs }) => tookMs))
  const failed = waited.filter(({ isOk }) => !isOk).length
  const how = `${count(waited.length, 'request')} waited${waited.length > 1 ? ' up to' : ''}`
  return `${how} ${took(longest)}, ${failed === 0 ? 'none' : failed} failed`
}

/** Formats a short duration: `80 ms`, `1.2 s`. */
function took(milliseconds: number): string {
  return milliseconds < 1000
    ? `${Math.max(1, Math.round(milliseconds))}${NO_BREAK}ms`
    : `${(milliseconds / 1000).toFixed(1)}${NO_BREAK}s`
}
