import type { CredentialEvent } from 'kubecred'
import { describeEvent } from '../render/describe-event.ts'
import { formatDuration } from '../render/format-duration.ts'
import { printableLine } from '../render/printable.ts'
import type { TimelineEvent } from './snapshot.ts'

/** A timeline event without its number, time and identity. */
export type TimelineEventDetails = Pick<TimelineEvent, 'kind' | 'text' | 'tookMs' | 'until'>

const MAX_TEXT_LENGTH = 400

/** Converts an event of the library for the timeline. Returns undefined if it is not shown there. */
export function toTimelineEvent(
  event: CredentialEvent,
  now: number,
): TimelineEventDetails | undefined {
  const details = classifyEvent(event, now)
  if (details === undefined || details.text === '') return undefined
  return { ...details, text: shorten(details.text, MAX_TEXT_LENGTH) }
}

/** Returns a text on one line, without control characters, and cut to `maxLength`. */
export function shorten(text: string, maxLength: number): string {
  // Cut first, so that a huge text is not processed as a whole.
  const line = printableLine(text.slice(0, maxLength * 2))
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`
}

function classifyEvent(event: CredentialEvent, now: number): TimelineEventDetails | undefined {
  switch (event.type) {
    case 'run-started':
      // While a credential is renewed ahead, no request waits: the old one is still in use.
      return event.ahead ? undefined : as('waiting')
    case 'run-succeeded':
      return {
        kind: event.reason === 'first' ? 'acquired' : 'refreshed',
        text: describe() || `${event.parts.join(' and ') || 'no credential'} available`,
        tookMs: event.tookMs,
        ...(event.expiresAt !== undefined && { until: event.expiresAt }),
      }
    case 'run-failed':
      return { kind: 'failed', text: describe(), tookMs: event.tookMs }
    case 'refused':
      return as('refused')
    case 'signed':
      return { kind: 'signed', text: describe(), tookMs: event.tookMs }
    case 'sign-failed':
      return event.error && { kind: 'failed', text: `${describe()}: ${event.error.message}` }
    case 'user-prompt':
      return { kind: 'waiting', text: `the signer asks: ${event.text}` }
    case 'warning':
      return { kind: 'warning', text: event.message }
    case 'policy':
      return event.verdict === 'denied' ? as('warning') : undefined
    default:
      return classifyVaultEvent(event)
  }

  function describe(): string {
    return describeEvent(event, { level: 1, now }) ?? ''
  }
  function as(kind: TimelineEvent['kind']): TimelineEventDetails {
    return { kind, text: describe() }
  }
}

/** Converts the events of login handlers. Their runs are handled like those of plugins. */
function classifyVaultEvent(event: CredentialEvent): TimelineEventDetails | undefined {
  switch (event.type) {
    case 'expired':
      return { kind: 'warning', text: `the login of ${event.source.name} has expired` }
    case 'log':
      return event.level === 'warn' || event.level === 'error'
        ? { kind: 'warning', text: `${event.source.name}: ${event.message}` }
        : undefined
    case 'frozen':
      return { kind: 'waiting', text: 'requests are waiting for a login' }
    case 'thawed':
      return {
        kind: 'refreshed',
        text: `requests continue after waiting ${formatDuration(event.frozenMs)}`,
      }
    case 'failed':
      return { kind: 'failed', text: event.error.message }
    default:
      return undefined
  }
}
