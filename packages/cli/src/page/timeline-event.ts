import type { CredentialEvent } from 'kubecred'
import { describeEvent } from '../render/describe-event.ts'
import { formatDuration } from '../render/format-duration.ts'
import { printableLine } from '../render/printable.ts'
import type { Moment } from './snapshot.ts'

/** What an event means on the page, before it has a number and a time. */
export type MomentFacts = Pick<Moment, 'kind' | 'text' | 'tookMs' | 'until'>

const LONGEST_TEXT = 400

/** Turns an event into something worth a mark on the timeline; undefined when it is not. */
export function describeMoment(event: CredentialEvent, now: number): MomentFacts | undefined {
  const facts = sortEvent(event, now)
  if (facts === undefined || facts.text === '') return undefined
  return { ...facts, text: shorten(facts.text, LONGEST_TEXT) }
}

/** On one line, without control characters, and not too long. */
export function shorten(text: string, longest: number): string {
  // Cut first: a huge text must not be worked on as a whole.
  const line = printableLine(text.slice(0, longest * 2))
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`
}

function sortEvent(event: CredentialEvent, now: number): MomentFacts | undefined {
  switch (event.type) {
    case 'run-started':
      // Ahead of the end nobody waits: the old credential serves.
      return event.ahead ? undefined : tell('waiting')
    case 'run-succeeded':
      return {
        kind: event.reason === 'first' ? 'acquired' : 'refreshed',
        text: say() || `${event.holds.join(' and ') || 'no credential'} at hand`,
        tookMs: event.tookMs,
        ...(event.expiresAt !== undefined && { until: event.expiresAt }),
      }
    case 'run-failed':
      return { kind: 'failed', text: say(), tookMs: event.tookMs }
    case 'refused':
      return tell('refused')
    case 'signed':
      return { kind: 'signed', text: say(), tookMs: event.tookMs }
    case 'sign-failed':
      return event.error && { kind: 'failed', text: `${say()}: ${event.error.message}` }
    case 'user-prompt':
      return { kind: 'waiting', text: `the signer asks: ${event.text}` }
    case 'warning':
      return { kind: 'warning', text: event.message }
    case 'policy':
      return event.verdict === 'denied' ? tell('warning') : undefined
    default:
      return sortVaultEvent(event)
  }

  function say(): string {
    return describeEvent(event, { level: 1, now }) ?? ''
  }
  function tell(kind: Moment['kind']): MomentFacts {
    return { kind, text: say() }
  }
}

/** Events of login handlers; their runs are told like those of plugins. */
function sortVaultEvent(event: CredentialEvent): MomentFacts | undefined {
  switch (event.type) {
    case 'expired':
      return { kind: 'warning', text: `the login of ${event.source.name} has ended` }
    case 'log':
      return event.level === 'warn' || event.level === 'error'
        ? { kind: 'warning', text: `${event.source.name}: ${event.message}` }
        : undefined
    case 'frozen':
      return { kind: 'waiting', text: 'requests wait for a login' }
    case 'thawed':
      return {
        kind: 'refreshed',
        text: `requests go on; they waited ${formatDuration(event.frozenMs)}`,
      }
    case 'failed':
      return { kind: 'failed', text: event.error.message }
    default:
      return undefined
  }
}
