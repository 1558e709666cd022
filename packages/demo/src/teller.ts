import { printableLine } from '@kubecred/cli/internal'
import type { CredentialEvent, Observer } from 'kubecred'
import type { Character } from './character.ts'
import { TIED, type Tone } from './stage.ts'
import { count } from './tally.ts'
import type { Done, Traffic } from './traffic.ts'

type Succeeded = Extract<CredentialEvent, { type: 'run-succeeded' }>
type Signed = Extract<CredentialEvent, { type: 'signed' }>

export interface TellerOptions {
  readonly say: (sentence: string, tone?: Tone) => void
  readonly traffic: Traffic
  readonly now: () => number
}

/** What is remembered of somebody between two sentences. */
interface Memory {
  runs: number
  /** Requests that had ended when the run began. */
  doneBefore: number
  expiresAt: number | undefined
  /** A new certificate that no connection has shown yet. */
  isCertificateNew: boolean
  /** Whether the server has refused what they have. */
  isRefused: boolean
  signatures: number
}

/** Tells in plain sentences what happens to the credentials of everybody. */
export class Teller {
  readonly #options: TellerOptions

  constructor(options: TellerOptions) {
    this.#options = options
  }

  /** For `connect()`. */
  observerFor(character: Character): Observer {
    const memory: Memory = {
      runs: 0,
      doneBefore: 0,
      expiresAt: undefined,
      isCertificateNew: false,
      isRefused: false,
      signatures: 0,
    }
    return (event) => this.#take(character, memory, event)
  }

  #take(character: Character, memory: Memory, event: CredentialEvent): void {
    const { say, traffic, now } = this.#options
    const { id } = character
    switch (event.type) {
      case 'run-started':
        memory.doneBefore = traffic.done(id)
        break
      case 'run-succeeded':
        memory.runs += 1
        this.#tellRun(character, memory, event)
        memory.expiresAt = event.expiresAt
        memory.isRefused = false
        break
      case 'refused':
        memory.isRefused = true
        break
      case 'run-failed': {
        const pause = Math.ceil((event.nextTryAt - now()) / 1000)
        say(
          `The ${programOf(character)} of ${id} failed: ${printableLine(event.error.message)}. Next try in ${pause} s.`,
          'failure',
        )
        break
      }
      case 'signed':
        memory.signatures += 1
        this.#tellSignature(character, memory, event)
        break
      case 'sign-failed':
        if (event.error !== undefined)
          say(`${id} cannot sign: ${printableLine(event.error.message)}`, 'failure')
        break
      case 'warning':
        say(`Warning about ${id}: ${printableLine(event.message)}`, 'trouble')
        break
      default:
    }
  }

  #tellRun(character: Character, memory: Memory, event: Succeeded): void {
    if (event.isSame) return
    if (character.keyIsIn !== undefined) {
      memory.isCertificateNew = true
      return
    }
    // A refusal while a run is under way anyway waits for that one.
    if (event.reason === 'ahead' && !memory.isRefused) this.#tellAhead(character, memory, event)
    else this.#tellWait(character, memory, event)
  }

  #tellAhead({ id, shows }: Character, memory: Memory, { tookMs }: Succeeded): void {
    const { say, traffic, now } = this.#options
    const left = Math.max(0, Math.round(((memory.expiresAt ?? now()) - now()) / 1000))
    const served = traffic.done(id) - memory.doneBefore
    const meanwhile = served > 0 ? `: ${count(served, 'request')} went through meanwhile.` : '.'
    say(
      shows === 'token'
        ? `${id}'s token had ${left}${TIED}s left, so the plugin fetched the next one (${took(tookMs)}). Nobody waited${meanwhile}`
        : `${id} has a new certificate, ${left}${TIED}s before the old one ends. New requests use it; the open watch goes on where it is.`,
    )
  }

  /** Tells of requests that had to wait, once they have their answers. */
  #tellWait({ id, shows }: Character, { runs, isRefused }: Memory, { tookMs }: Succeeded): void {
    const { say, traffic } = this.#options
    const why = isRefused
      ? `The server refused ${id}'s ${shows}`
      : runs === 1
        ? `${id} needs a ${shows}`
        : `${id} had no ${shows} any more`
    Promise.all(traffic.underWay(id)).then(
      (waited) =>
        say(
          `${why}: one plugin run (${took(tookMs)}), ${describeWaiting(waited)}.`,
          isRefused ? 'recovery' : 'usual',
        ),
      () => {},
    )
  }

  #tellSignature({ id, keyIsIn = '' }: Character, memory: Memory, { tookMs }: Signed): void {
    const { say } = this.#options
    const isFirst = memory.signatures === 1
    if (!memory.isCertificateNew && !isFirst) return
    memory.isCertificateNew = false
    say(
      isFirst
        ? `${id}'s key signed a TLS handshake (${took(tookMs)}) in ${keyIsIn}. This process asked for a signature; it never sees the key.`
        : `${id} has a new certificate, and its key in ${keyIsIn} signed the next handshake (${took(tookMs)}).`,
    )
  }
}

function programOf({ keyIsIn }: Character): string {
  return keyIsIn === undefined ? 'plugin' : 'signer'
}

function describeWaiting(waited: readonly Done[]): string {
  if (waited.length === 0) return 'no request had to wait'
  const longest = Math.max(...waited.map(({ tookMs }) => tookMs))
  const failed = waited.filter(({ isGood }) => !isGood).length
  const how = `${count(waited.length, 'request')} waited${waited.length > 1 ? ' up to' : ''}`
  return `${how} ${took(longest)}, ${failed === 0 ? 'none' : failed} failed`
}

/** A short time for people: `80 ms`, `1.2 s`. */
function took(milliseconds: number): string {
  return milliseconds < 1000
    ? `${Math.max(1, Math.round(milliseconds))}${TIED}ms`
    : `${(milliseconds / 1000).toFixed(1)}${TIED}s`
}
