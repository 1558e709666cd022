import type { CredentialEvent, Observer } from 'kubecred'
import { shortName } from '../render/describe-event.ts'
import type { Words } from '../render/stderr-writer.ts'

/**
 * Explains why a signer that ends after each answer cannot sign while the command runs: it may have to ask for its PIN
 * again, and the terminal belongs to the command.
 */
export class OneShotSigner {
  readonly #words: Words
  #hasEnded = false
  #isLoggedIn = false

  constructor(words: Words) {
    this.#words = words
  }

  /** From now on the command has the terminal. */
  loggedIn(): void {
    this.#isLoggedIn = true
  }

  readonly observe: Observer = (event: CredentialEvent) => {
    const { type, source } = event
    if (source.kind !== 'signer') return
    if (type === 'plugin-ended' && !this.#isLoggedIn)
      this.#hasEnded = event.process.exitStatus === 0
    if (type !== 'sign-failed' || event.error === undefined) return
    if (!this.#isLoggedIn || !this.#hasEnded) return
    this.#hasEnded = false
    this.#words.warn(
      `${shortName(source)} ends after each answer, and cannot ask you for a PIN while the command has the terminal. ` +
        'Use a signer that stays or listens at a socket, or let it find the PIN by itself; see docs/run.md.',
    )
  }
}
