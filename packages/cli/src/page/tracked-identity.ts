import type { Cluster, ClusterStatus, CredentialEvent, Observer, SourceLabel } from 'kubecred'
import { withFlagNames } from '../render/with-flag-names.ts'
import type { IdentityView } from './snapshot.ts'
import { describeMoment, type MomentFacts, shorten } from './timeline-event.ts'

const LONGEST_PROMPT = 300
const LONGEST_ERROR = 1000

interface Notebook {
  readonly now: () => number
  /** Something changed; with facts when it belongs on the timeline. */
  readonly onNews: (facts?: MomentFacts) => void
}

/** One identity as the page sees it: what its connection says of itself, and what its events told. */
export class WatchedIdentity {
  readonly id: string
  readonly title: string
  readonly #notebook: Notebook
  #cluster: Cluster | undefined
  #holds: readonly string[] | undefined
  #prompt: string | undefined
  #refusals = 0
  #retried = 0
  #signatures = 0
  /** Runs under way. A vault has several sources. */
  readonly #running = new Map<SourceLabel, number>()

  constructor(id: string, title: string, notebook: Notebook) {
    this.id = id
    this.title = title
    this.#notebook = notebook
  }

  readonly observer: Observer = (event) => {
    const { now, onNews } = this.#notebook
    this.#take(event, now())
    onNews(describeMoment(event, now()))
  }

  readonly attach = (cluster: Cluster): void => {
    this.#cluster = cluster
    this.#notebook.onNews()
  }

  /** Fetches the credential anew. */
  async renew(signal: AbortSignal): Promise<void> {
    await this.#cluster?.renew({ signal })
  }

  forget(): void {
    this.#cluster?.forget()
    this.#holds = undefined
    this.#notebook.onNews({
      kind: 'forgotten',
      text: 'forgotten; the next request fetches another',
    })
  }

  /** Undefined before there is a connection. */
  view(): IdentityView | undefined {
    if (this.#cluster === undefined) return undefined
    const [runningSince] = this.#running.values()
    return {
      ...withShortError(this.#cluster.status()),
      id: this.id,
      title: this.title,
      ...(this.#holds && { holds: this.#holds }),
      ...(this.#prompt !== undefined && { prompt: this.#prompt }),
      ...(runningSince !== undefined && { runningSince }),
      refusals: this.#refusals,
      retried: this.#retried,
      signatures: this.#signatures,
    }
  }

  #take(event: CredentialEvent, now: number): void {
    switch (event.type) {
      case 'run-started':
        this.#running.set(event.source, now)
        break
      case 'run-succeeded':
        this.#running.delete(event.source)
        this.#holds = event.holds
        break
      case 'run-failed':
        this.#running.delete(event.source)
        break
      case 'released':
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
        this.#prompt = shorten(event.text, LONGEST_PROMPT)
        break
      case 'prompt-ended':
        this.#prompt = undefined
        break
      default:
    }
  }
}

/** A plugin can say a lot; the page shows the beginning. */
function withShortError(status: ClusterStatus): ClusterStatus {
  const { lastError } = status.credential
  if (lastError === undefined) return status
  const message = shorten(lastError.message, LONGEST_ERROR)
  const hint = shorten(withFlagNames(lastError.hint), LONGEST_ERROR)
  const { code } = lastError
  return { ...status, credential: { ...status.credential, lastError: { code, message, hint } } }
}
