import type { CredentialEvent } from 'kubecred'

/** What has happened so far, in numbers. */
export class Tally {
  requests = 0
  failed = 0
  /** Events that watches brought. */
  watched = 0
  /** Watches that ended before they should. */
  interrupted = 0
  pluginRuns = 0
  certificatesRotated = 0
  signatures = 0
  revocations = 0

  readonly observe = (event: CredentialEvent): void => {
    const isRun = event.type === 'run-succeeded' || event.type === 'run-failed'
    if (isRun && event.source.kind === 'exec') this.pluginRuns += 1
    if (event.type === 'run-succeeded' && event.replaced !== undefined) {
      this.certificatesRotated += 1
    }
    if (event.type === 'signed') this.signatures += 1
  }
}

/** A number with its word: `1 request`, `1,204 requests`. */
export function count(number: number, word: string): string {
  return `${number.toLocaleString('en-US')} ${word}${number === 1 ? '' : 's'}`
}
