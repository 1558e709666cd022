import { basename } from 'node:path'
import type { CredentialEvent, SourceLabel } from 'kubecred'
import { describeSource } from './describe-source.ts'
import { formatDuration } from './format-duration.ts'
import { printableLine } from './printable.ts'

type RunReason = Extract<CredentialEvent, { type: 'run-started' }>['reason']
type Succeeded = Extract<CredentialEvent, { type: 'run-succeeded' }>

const REASONS: Readonly<Record<RunReason, string>> = {
  first: 'first use',
  expired: 'the credential has expired',
  ahead: 'ahead of expiry',
  refused: 'the server refused the credential',
}

/**
 * Describes an event in a few words; undefined if it is not worth a line at this level.
 *
 * @param level The verbosity: 1 for what happens to the credential, 2 also for routine events.
 */
export function describeEvent(
  event: CredentialEvent,
  { level, now }: { readonly level: number; readonly now: number },
): string | undefined {
  const source = shortName(event.source)
  switch (event.type) {
    case 'run-started':
      return isProgram(event.source) ? `running ${source} (${REASONS[event.reason]})` : undefined
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
      return 'retrying the request with the new credential'
    case 'retired':
      return level > 1 ? 'the old credential is retired' : undefined
    case 'signed':
      return `${source} signed in ${formatDuration(event.tookMs)} (${event.scheme})`
    case 'sign-failed':
      return `${source} failed to sign after ${formatDuration(event.tookMs)}`
    case 'user-prompt':
    case 'prompt-ended':
    case 'plugin-started':
    case 'plugin-stderr':
    case 'plugin-ended':
    case 'attached':
    case 'detached':
    case 'warning':
    // If it fails, a warning gives the reason.
    case 'ca-reload':
    // Written with its stack by the commands that continue after it.
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

/** Names a plugin or signer by its base name: the first log line has the full path. */
export function shortName(source: SourceLabel): string {
  if (!isProgram(source)) return describeSource(source)
  const what = source.kind === 'exec' ? 'plugin' : 'signer'
  return `${what} ${printableLine(basename(source.name))}`
}

/** Whether the source runs another program, which may take long. */
export function isProgram({ kind }: SourceLabel): boolean {
  return kind === 'exec' || kind === 'signer'
}

/** Describes when the next run is allowed, if that is in the future. */
export function describePause(nextTryAt: number | undefined, now: number): string {
  if (nextTryAt === undefined || nextTryAt <= now) return ''
  return `; next try in ${formatDuration(nextTryAt - now)}`
}

function describeSuccess(
  { source, parts, expiresAt, isSame, tookMs, reason }: Succeeded,
  name: string,
  now: number,
): string | undefined {
  if (source.kind === 'anonymous') return undefined
  const what = isSame ? 'same credential as before' : parts.join(' and ')
  const isExec = isProgram(source)
  if (!isExec && reason === 'first') return undefined
  const verb = isExec ? `answered in ${formatDuration(tookMs)}` : 'reloaded'
  return `${name} ${verb}: ${what}${isExec ? describeExpiry(expiresAt, now) : ''}`
}

function describeExpiry(expiresAt: number | undefined, now: number): string {
  if (expiresAt === undefined) return ', no expiry'
  return expiresAt > now
    ? `, expires in ${formatDuration(expiresAt - now)}`
    : `, expired ${formatDuration(now - expiresAt)} ago`
}
