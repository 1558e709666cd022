import type { Keeper } from '../keeper/keeper.ts'
import type { CredentialEvent, Observer, SourceLabel } from '../ports/observer.ts'

/** Which logins a vault tells people about that went well: all, first ones only, or none. */
export type LoginLog = 'all' | 'first' | 'none'

type Watchable = Pick<Keeper, 'watch'>

/** Somebody who watches, and what they are to stop watching when they leave. */
interface Member {
  readonly hears: Observer
  /** Connections with this observer. */
  watches: number
}

/**
 * Those who watch a vault, and what they watch: its handlers, and what their logins open.
 *
 * Both come and go. A plugin that a login runs has a keeper of its own, which others may share: whoever
 * watches the vault hears its events as they are, from itself.
 */
export class Audience {
  readonly #log: LoginLog
  readonly #members = new Map<Observer, Member>()
  /** How each member leaves each keeper. */
  readonly #stages = new Map<object, { keeper: Watchable; stops: Map<Member, () => void> }>()

  constructor(log: LoginLog = 'all') {
    this.#log = log
  }

  /** Adds somebody. Returns how to leave. */
  watch(observer: Observer): () => void {
    const member = this.#members.get(observer) ?? { hears: this.#filter(observer), watches: 0 }
    this.#members.set(observer, member)
    member.watches += 1
    if (member.watches === 1) {
      for (const { keeper, stops } of this.#stages.values())
        stops.set(member, keeper.watch(member.hears))
    }
    let isGone = false
    return () => {
      if (isGone) return
      isGone = true
      member.watches -= 1
      if (member.watches === 0) this.#leave(observer, member)
    }
  }

  /** Adds something to watch. Returns how to take it away. */
  admit(keeper: Watchable): () => void {
    const key = {}
    const stops = new Map<Member, () => void>()
    this.#stages.set(key, { keeper, stops })
    for (const member of this.#members.values()) stops.set(member, keeper.watch(member.hears))
    return () => {
      this.#stages.delete(key)
      for (const stop of stops.values()) stop()
      stops.clear()
    }
  }

  #leave(observer: Observer, member: Member): void {
    this.#members.delete(observer)
    for (const { stops } of this.#stages.values()) {
      stops.get(member)?.()
      stops.delete(member)
    }
  }

  /** What the observer returns is handed on: it may be a promise that somebody has to look after. */
  #filter(observer: Observer): Observer {
    return (event) => (isWorthHearing(event, this.#log) ? observer(event) : undefined)
  }
}

/** Sources that do more than read what a login said. */
const FETCHED: readonly SourceLabel['kind'][] = ['exec', 'oidc', 'signer']

function isWorthHearing(event: CredentialEvent, log: LoginLog): boolean {
  const { kind } = event.source
  if (kind === 'login') {
    return log === 'all' || !isGoodNews(event) || (log === 'first' && event.reason === 'first')
  }
  // The handler's own keeper tells of both; they would be counted twice.
  if (event.type === 'refused' || event.type === 'retired') return false
  const isOfFiles = event.type === 'warning' || event.type === 'ca-reload'
  return isOfFiles || FETCHED.includes(kind)
}

type GoodNews = Extract<CredentialEvent, { type: 'logged-in' | 'log' }>

/** What is only said to people, and is no trouble. Programs count what the keeper tells. */
function isGoodNews(event: CredentialEvent): event is GoodNews {
  if (event.type === 'log') return event.level === 'debug' || event.level === 'info'
  return event.type === 'logged-in'
}
