import { basename } from 'node:path'
import { describeNeededLogin } from 'kubecred/internal'
import type { AgentStatus, EntryStatus } from '../agent/protocol.ts'
import { formatDuration } from './format-duration.ts'
import { printableLine } from './printable.ts'

/** Formats the state of an agent for a terminal. */
export function agentTable(status: AgentStatus | undefined, now: number): string {
  if (status === undefined) return 'No agent is running. kubecred-token starts one on demand.\n'
  const { pid, version, startedAt, isLocked, entries } = status
  const head = `Agent ${version}, process ${pid}, running for ${formatDuration(now - startedAt)}${isLocked ? ', locked' : ''}.`
  const lines = entries.map((entry) => `  ${entryLine(entry, now)}`)
  const count = entries.length === 0 && !isLocked ? ['It keeps no credentials.'] : []
  return `${[head, ...count, ...lines].join('\n')}\n`
}

/** Formats one credential in one line: name, state, and when it was last fetched. */
function entryLine(entry: EntryStatus, now: number): string {
  const { command, args, state, expiresAt, lastRunAt, lastRunMs, lastError, nextTryAt } = entry
  const name = printableLine(`${basename(command)} ${args}`.trim())
  const parts = [
    `${name}: ${expiresAt !== undefined && state === 'ready' ? `expires in ${formatDuration(expiresAt - now)}` : state}`,
    lastRunAt !== undefined &&
      `last run ${formatDuration(now - lastRunAt)} ago${lastRunMs === undefined ? '' : ` in ${formatDuration(lastRunMs)}`}`,
    lastError?.loginCommand && describeNeededLogin(printableLine(lastError.loginCommand)),
    lastError && `${printableLine(lastError.message)} (${lastError.code})`,
    nextTryAt !== undefined && `next try in ${formatDuration(nextTryAt - now)}`,
    entry.waiting > 0 && `${entry.waiting} waiting`,
  ]
  return parts.filter(Boolean).join(', ')
}
