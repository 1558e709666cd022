import type { CredentialEvent, Observer } from 'kubecred'
import { shortName } from '../render/describe-event.ts'
import type { StderrWriter } from '../render/stderr-writer.ts'

/**
 * Warns if a signer that exits after each signature cannot sign while the command runs: it may have to ask for its PIN
 * again, and the command has the terminal.
 */
export class OneShotSigner {
  readonly #stderr: StderrWriter
  #hasEnded = false
  #isLoggedIn = false

  constructor(stderr: StderrWriter) {
    this.#stderr = stderr
  }

  /** Called when the command takes over the terminal. */
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
    this.#stderr.warn(
      `${shortName(source)} exits after each signature and cannot ask for a PIN while the command has the terminal. ` +
        'Use a signer that keeps running or listens on a socket, or configure its PIN; see docs/run.md.',
    )
  }
}
