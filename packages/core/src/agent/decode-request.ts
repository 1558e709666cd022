import { type Fields, isFields } from '../protocol/plain-object.ts'
import type { DepositedOutcome, GetRequest, ProcessName, Request } from './wire.ts'

const PLAIN = ['status', 'forget', 'lock', 'unlock', 'stop'] as const

/**
 * Reads one line that somebody sent to the agent; undefined for anything but a whole request.
 *
 * Whoever can write to the socket is the user, and could run the plugin without us: this is not about trust,
 * but about an agent that survives whatever a broken client sends.
 */
export function decodeRequest(text: string): Request | undefined {
  const value = parse(text)
  if (!isFields(value)) return undefined
  const wanted = value['do']
  const plain = PLAIN.find((each) => each === wanted)
  if (plain !== undefined) return { do: plain }
  if (wanted === 'get') return readGet(value)
  if (wanted === 'look') {
    const asked = readGet(value)
    return asked && { ...asked, do: 'look' }
  }
  if (wanted !== 'deposit') return undefined
  const outcome = readOutcome(value['outcome'])
  return outcome && { do: 'deposit', outcome }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readGet(value: Fields): GetRequest | undefined {
  const { path, command, args, env, cwd, execInfo, files, isAccountKnown, isInteractive } = value
  const isWhole =
    isAbsolutePath(path) &&
    isText(command) &&
    areTexts(args) &&
    isFields(env) &&
    Object.values(env).every(isText) &&
    isAbsolutePath(cwd) &&
    isText(execInfo) &&
    areTexts(files) &&
    typeof isAccountKnown === 'boolean' &&
    typeof isInteractive === 'boolean'
  if (!isWhole) return undefined
  const { ttlMs, timeoutMs, isAttended } = value
  if (ttlMs !== undefined && !isTime(ttlMs)) return undefined
  if (timeoutMs !== undefined && !isTime(timeoutMs)) return undefined
  return {
    do: 'get',
    path,
    command,
    args,
    env: env as Record<string, string>,
    cwd,
    execInfo,
    files,
    isAccountKnown,
    isInteractive,
    ...(ttlMs !== undefined && { ttlMs }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(isAttended === true && { isAttended }),
    parent: readParent(value['parent']),
  }
}

function readParent(value: unknown): ProcessName | undefined {
  if (!isFields(value)) return undefined
  const { pid, startedAt } = value
  if (!isCount(pid)) return undefined
  return { pid, ...(isCount(startedAt) && { startedAt }) }
}

const FAILED = ['timed-out', 'too-loud', 'aborted'] as const

function readOutcome(value: unknown): DepositedOutcome | undefined {
  if (!isFields(value)) return undefined
  const { ended, tookMs, stderrTail } = value
  if (!isCount(tookMs) || !isText(stderrTail)) return undefined
  const ran = { tookMs, stderrTail }
  const { status, stdout, signal, errno, reason } = value
  if (ended === 'exited') {
    return isCount(status) && isText(stdout) ? { ended, status, stdout, ...ran } : undefined
  }
  if (ended === 'killed') return isText(signal) ? { ended, signal, ...ran } : undefined
  if (ended === 'not-started') {
    return isText(errno) && isText(reason) ? { ended, errno, reason, ...ran } : undefined
  }
  const failed = FAILED.find((each) => each === ended)
  return failed && { ended: failed, ...ran }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

function isAbsolutePath(value: unknown): value is string {
  return isText(value) && value.startsWith('/') && !value.includes('\0')
}

/** Milliseconds. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value > 0
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
