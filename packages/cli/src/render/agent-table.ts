import { basename } from 'node:path'
import type { AgentStatus, EntryStatus } from '../agent/protocol.ts'
import { formatDuration } from './format-duration.ts'
import { printableLine } from './printable.ts'

/** What an agent knows, for people. */
export function agentTable(status: AgentStatus | undefined, now: number): string {
  if (status === undefined)
    return 'There is no agent. kubecred-token starts one when it needs it.\n'
  const { pid, version, startedAt, isLocked, entries } = status
  const head = `Agent ${version}, process ${pid}, for ${formatDuration(now - startedAt)}${isLocked ? ', locked' : ''}.`
  const lines = entries.map((entry) => `  ${entryLine(entry, now)}`)
  const count = entries.length === 0 && !isLocked ? ['It keeps no credential.'] : []
  return `${[head, ...count, ...lines].join('\n')}\n`
}

/** One credential in one line: what it is, how it is doing, and when it was last fetched. */
function entryLine(entry: EntryStatus, now: number): string {
  const { command, args, state, expiresAt, lastRunAt, lastRunMs, lastError, nextTryAt } = entry
  const name = printableLine(`${basename(command)} ${args}`.trim())
  const parts = [
    `${name}: ${expiresAt !== undefined && state === 'ready' ? `valid for ${formatDuration(expiresAt - now)}` : state}`,
    lastRunAt !== undefined &&
      `run ${formatDuration(now - lastRunAt)} ago${lastRunMs === undefined ? '' : ` in ${formatDuration(lastRunMs)}`}`,
    lastError && `${printableLine(lastError.message)} (${lastError.code})`,
    nextTryAt !== undefined && `next try in ${formatDuration(nextTryAt - now)}`,
    entry.waiting > 0 && `${entry.waiting} waiting`,
  ]
  return parts.filter(Boolean).join(', ')
}
