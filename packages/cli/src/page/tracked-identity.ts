import type { Cluster, ClusterStatus, CredentialEvent, Observer, SourceLabel } from 'kubecred'
import { withFlagNames } from '../render/with-flag-names.ts'
import type { IdentityView } from './snapshot.ts'
import { shorten, type TimelineEventDetails, toTimelineEvent } from './timeline-event.ts'

const MAX_PROMPT_LENGTH = 300
const MAX_ERROR_LENGTH = 1000

interface TrackingOptions {
  readonly now: () => number
  /** Called on every change, with details if it belongs on the timeline. */
  readonly onChange: (details?: TimelineEventDetails) => void
}

/** Tracks one identity for the page, from the status and the events of its connection. */
export class TrackedIdentity {
  readonly id: string
  readonly title: string
  readonly #options: TrackingOptions
  #cluster: Cluster | undefined
  #parts: readonly string[] | undefined
  #prompt: string | undefined
  #refusals = 0
  #retried = 0
  #signatures = 0
  /** Runs in progress, by source: a vault has several. */
  readonly #running = new Map<SourceLabel, number>()

  constructor(id: string, title: string, options: TrackingOptions) {
    this.id = id
    this.title = title
    this.#options = options
  }

  readonly observer: Observer = (event) => {
    const { now, onChange } = this.#options
    this.#apply(event, now())
    onChange(toTimelineEvent(event, now()))
  }

  readonly attach = (cluster: Cluster): void => {
    this.#cluster = cluster
    this.#options.onChange()
  }

  /** Obtains a new credential. */
  async renew(signal: AbortSignal): Promise<void> {
    await this.#cluster?.renew({ signal })
  }

  /** Drops the credential. */
  forget(): void {
    this.#cluster?.forget()
    this.#parts = undefined
    this.#options.onChange({
      kind: 'forgotten',
      text: 'forgotten; the next request obtains a new one',
    })
  }

  /** Returns what the page shows; undefined before there is a connection. */
  view(): IdentityView | undefined {
    if (this.#cluster === undefined) return undefined
    const [runningSince] = this.#running.values()
    return {
      ...shortenError(this.#cluster.status()),
      id: this.id,
      title: this.title,
      ...(this.#parts && { parts: this.#parts }),
      ...(this.#prompt !== undefined && { prompt: this.#prompt }),
      ...(runningSince !== undefined && { runningSince }),
      refusals: this.#refusals,
      retried: this.#retried,
      signatures: this.#signatures,
    }
  }

  #apply(event: CredentialEvent, now: number): void {
    switch (event.type) {
      case 'run-started':
        this.#running.set(event.source, now)
        break
      case 'run-succeeded':
        this.#running.delete(event.source)
        this.#parts = event.parts
        break
      case 'run-failed':
        this.#running.delete(event.source)
        break
      case 'detached':
        this.#running.clear()
        this.#prompt = undefined
        break
      case 'refused':
        this.#refusals += 1
        break
      case 'retried':
        this.#retried += 1
        break
      case 'signed':
        this.#signatures += 1
        break
      case 'user-prompt':
        this.#prompt = shorten(event.text, MAX_PROMPT_LENGTH)
        break
      case 'prompt-ended':
        this.#prompt = undefined
        break
      default:
    }
  }
}

/** Shortens the last error: the message of a plugin can be long. */
function shortenError(status: ClusterStatus): ClusterStatus {
  const { lastError } = status.credential
  if (lastError === undefined) return status
  const message = shorten(lastError.message, MAX_ERROR_LENGTH)
  const hint = shorten(withFlagNames(lastError.hint), MAX_ERROR_LENGTH)
  const shown = { ...lastError, message, hint }
  return { ...status, credential: { ...status.credential, lastError: shown } }
}
