import type { CredentialEvent } from 'kubecred'

/** Counts what has happened so far. */
export class Counters {
  requests = 0
  failed = 0
  /** Watch events received. */
  watched = 0
  /** Watches that ended too early. */
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

/** Formats a number with its noun: `1 request`, `1,204 requests`. */
export function count(number: number, word: string): string {
  return `${number.toLocaleString('en-US')} ${word}${number === 1 ? '' : 's'}`
}
