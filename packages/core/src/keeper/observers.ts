import type { Credential } from '../credential/credential.ts'
import { describeUnexpected, type UnexpectedError } from '../errors/index.ts'
import type { CredentialEvent, Observer, SourceLabel, Validity } from '../ports/observer.ts'
import type { Secret } from '../secret/secret.ts'
import type { Report } from '../sources/source.ts'
import type { LeaseProvider } from './lease-provider.ts'

/**
 * Code that depends on what a keeper does.
 *
 * Each function is called after the keeper has changed its state, and before observers receive the event. None is called
 * after `close()`.
 */
export interface KeeperListener {
  /** A run begins. */
  readonly onStarted?: () => void
  /** A run ended. */
  readonly onSettled?: (result: RunResult) => void
  /** A credential was retired: it expired, was replaced or was forgotten. */
  readonly onRetired?: () => void
}

/** How a run ended. */
export type RunResult =
  | {
      readonly credential: Credential
      /** Whether it equals the credential that was held before. */
      readonly isSame: boolean
    }
  | { readonly error: unknown }

/**
 * The observers of one keeper.
 *
 * An observer that several connections share receives each event once, until the last of them removes it. All observers
 * receive the same event object, so that one that was added in two places can recognise duplicates.
 */
export class ObserverSet {
  readonly #label: SourceLabel
  readonly #watches = new Map<Observer, number>()

  constructor(label: SourceLabel) {
    this.#label = label
  }

  /**
   * Adds an observer. Returns a function that removes it.
   *
   * @param certificate Validity of the certificate that is already held: a new observer missed its event.
   */
  add(observer: Observer, certificate: Validity | undefined): () => void {
    const watches = this.#watches.get(observer) ?? 0
    this.#watches.set(observer, watches + 1)
    if (watches === 0) this.#notify(observer, { type: 'attached', certificate })
    let isRemoved = false
    return () => {
      if (!isRemoved) this.#remove(observer)
      isRemoved = true
    }
  }

  report(event: Report): void {
    const labelled = { ...event, source: this.#label }
    for (const observer of this.#watches.keys()) notify(observer, labelled)
  }

  /** Removes all observers. */
  close(): void {
    for (const observer of this.#watches.keys()) this.#notify(observer, { type: 'detached' })
    this.#watches.clear()
  }

  #remove(observer: Observer): void {
    const watches = this.#watches.get(observer)
    if (watches === undefined) return
    if (watches > 1) {
      this.#watches.set(observer, watches - 1)
      return
    }
    this.#watches.delete(observer)
    this.#notify(observer, { type: 'detached' })
  }

  #notify(observer: Observer, event: Report): void {
    notify(observer, { ...event, source: this.#label })
  }
}

/** Calls an observer and swallows its errors, synchronous and asynchronous: an observer cannot stop what it observes. */
export function notify(observer: Observer, event: CredentialEvent): void {
  try {
    const returned: unknown = observer(event)
    if (returned instanceof Promise) returned.catch(() => {})
  } catch {
    // The observer must handle its own errors.
  }
}

/**
 * Reports an error that is not a `CredentialError` to the observers, without the secrets that are held.
 *
 * @param secrets Further secrets to remove.
 */
export function reportUnexpected(
  access: Pick<LeaseProvider, 'report' | 'secrets'>,
  error: unknown,
  secrets: readonly Secret[] = [],
): UnexpectedError {
  const described = describeUnexpected(error, [...access.secrets, ...secrets])
  access.report({ type: 'unexpected-error', ...described })
  return described
}
