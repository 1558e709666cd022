import type { Credential } from '../credential/credential.ts'
import { describeUnexpected, type UnexpectedError } from '../errors/index.ts'
import type { CredentialEvent, Observer, SourceLabel, Validity } from '../ports/observer.ts'
import type { Secret } from '../secret/secret.ts'
import type { Report } from '../sources/source.ts'
import type { LeaseProvider } from './lease-provider.ts'

/**
 * Code that depends on what a keeper does.
 *
 * Each function is called after the keeper has changed its state, and before observers receive the event: those are
 * for people, and nothing depends on them. After `close()` none is called.
 */
export interface KeeperListener {
  /** A run begins. */
  readonly onStarted?: () => void
  /** A run ended. */
  readonly onSettled?: (result: RunResult) => void
  /** A credential is no longer given out: it expired, was replaced or was forgotten. */
  readonly onRetired?: () => void
}

/** How a run ended. */
export type RunResult =
  | {
      readonly credential: Credential
      /** Whether it is the credential that was held already. */
      readonly isSame: boolean
    }
  | { readonly error: unknown }

/**
 * The observers of one keeper.
 *
 * An observer that several connections share receives each event once, until the last of them removes it. All
 * observers receive the same object, so that one that was added in two ways can recognise it.
 */
export class Watchers {
  readonly #label: SourceLabel
  readonly #watches = new Map<Observer, number>()

  constructor(label: SourceLabel) {
    this.#label = label
  }

  /**
   * Adds one. Returns how to leave.
   *
   * @param certificate Of the credential held already: who comes late has not heard of it.
   */
  add(observer: Observer, certificate: Validity | undefined): () => void {
    const watches = this.#watches.get(observer) ?? 0
    this.#watches.set(observer, watches + 1)
    if (watches === 0) this.#tell(observer, { type: 'borrowed', certificate })
    let isGone = false
    return () => {
      if (!isGone) this.#leave(observer)
      isGone = true
    }
  }

  report(event: Report): void {
    const labelled = { ...event, source: this.#label }
    for (const observer of this.#watches.keys()) tell(observer, labelled)
  }

  /** Removes all observers. */
  close(): void {
    for (const observer of this.#watches.keys()) this.#tell(observer, { type: 'released' })
    this.#watches.clear()
  }

  #leave(observer: Observer): void {
    const watches = this.#watches.get(observer)
    if (watches === undefined) return
    if (watches > 1) {
      this.#watches.set(observer, watches - 1)
      return
    }
    this.#watches.delete(observer)
    this.#tell(observer, { type: 'released' })
  }

  #tell(observer: Observer, event: Report): void {
    tell(observer, { ...event, source: this.#label })
  }
}

/** Calls an observer and swallows its errors, synchronous and asynchronous: an observer cannot stop what it observes. */
export function tell(observer: Observer, event: CredentialEvent): void {
  try {
    const returned: unknown = observer(event)
    if (returned instanceof Promise) returned.catch(() => {})
  } catch {
    // Theirs to notice.
  }
}

/**
 * Reports an error that is no `CredentialError` to the observers, without the secrets that are held.
 *
 * @param secrets Further ones.
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
