import { basename } from 'node:path'
import type { CredentialEvent, SourceLabel } from 'kubecred'
import { describeSource } from './describe-source.ts'
import { formatDuration } from './format-duration.ts'
import { printableLine } from './printable.ts'

type RunReason = Extract<CredentialEvent, { type: 'run-started' }>['reason']
type Succeeded = Extract<CredentialEvent, { type: 'run-succeeded' }>

const REASONS: Readonly<Record<RunReason, string>> = {
  first: 'first use',
  expired: 'the last credential has expired',
  ahead: 'ahead of expiry',
  refused: 'the server refused the last credential',
}

/**
 * Tells an event in a few words; undefined when there is nothing to tell.
 *
 * @param level 1 tells the story, 2 also what is normal in it.
 */
export function describeEvent(
  event: CredentialEvent,
  { level, now }: { readonly level: number; readonly now: number },
): string | undefined {
  const source = shortName(event.source)
  switch (event.type) {
    case 'run-started':
      return isProgram(event.source) ? `${source} runs (${REASONS[event.reason]})` : undefined
    case 'run-succeeded':
      return describeSuccess(event, source, now)
    case 'run-failed':
      return (
        `${source} failed after ${formatDuration(event.tookMs)}: ${printableLine(event.error.message)}` +
        describePause(event.nextTryAt, now)
      )
    case 'policy':
      if (event.verdict === 'denied') return `the plugin policy does not allow ${source}`
      return level > 1 ? `the plugin policy allows ${source}` : undefined
    case 'refused':
      return `the server refused the credential (${event.status})`
    case 'retried':
      return `sending the request again with the new credential`
    case 'retired':
      return level > 1 ? 'the old credential is retired' : undefined
    case 'signed':
      return `${source} signed in ${formatDuration(event.tookMs)} (${event.scheme})`
    case 'sign-failed':
      return `${source} did not sign after ${formatDuration(event.tookMs)}`
    case 'user-prompt':
    case 'prompt-ended':
    case 'plugin-started':
    case 'plugin-stderr':
    case 'plugin-ended':
    case 'borrowed':
    case 'released':
    case 'warning':
    // A warning says why the file cannot be used.
    case 'ca-reload':
    // Written whole by the commands that go on after it.
    case 'unexpected-error':
    // The program has no login handlers.
    case 'logged-in':
    case 'login-retried':
    case 'log':
    case 'expired':
    case 'depleted':
    case 'frozen':
    case 'thawed':
    case 'failed':
      return undefined
  }
}

/** A plugin by the last part of its path: the first line of the story has said it whole. */
export function shortName(source: SourceLabel): string {
  if (!isProgram(source)) return describeSource(source)
  const what = source.kind === 'exec' ? 'plugin' : 'signer'
  return `${what} ${printableLine(basename(source.name))}`
}

/** Whether it takes its time, and is another program. */
export function isProgram({ kind }: SourceLabel): boolean {
  return kind === 'exec' || kind === 'signer'
}

/** Says when the next run may be, if that lies ahead. */
export function describePause(nextTryAt: number | undefined, now: number): string {
  if (nextTryAt === undefined || nextTryAt <= now) return ''
  return `; it may run again in ${formatDuration(nextTryAt - now)}`
}

function describeSuccess(
  { source, holds, expiresAt, isSame, tookMs, reason }: Succeeded,
  name: string,
  now: number,
): string | undefined {
  if (source.kind === 'anonymous') return undefined
  const what = isSame ? 'the same credential as before' : holds.join(' and ')
  const isExec = isProgram(source)
  if (!isExec && reason === 'first') return undefined
  const verb = isExec ? `answered in ${formatDuration(tookMs)}` : 'read again'
  return `${name} ${verb}: ${what}${isExec ? describeEnd(expiresAt, now) : ''}`
}

function describeEnd(expiresAt: number | undefined, now: number): string {
  if (expiresAt === undefined) return ', without an expiry'
  return expiresAt > now
    ? `, expires in ${formatDuration(expiresAt - now)}`
    : `, expired ${formatDuration(now - expiresAt)} ago`
}
