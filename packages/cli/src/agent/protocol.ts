import type { Socket } from 'node:net'
import {
  type Fields,
  isFields,
  type KeeperStatus,
  type ProcessId,
  type RunOutcome,
} from 'kubecred/internal'

/** Maximum size of one line of JSON in either direction. */
export const MAX_FRAME_BYTES = 1024 * 1024

/** Requests a credential: everything that decides what the plugin would answer. */
export interface GetRequest {
  readonly do: 'get'
  /** The file to run. The requester has located it and applied the plugin policy. */
  readonly path: string
  /** The value of argv[0]. */
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** `KUBERNETES_EXEC_INFO` of the client as JSON, without `interactive`. */
  readonly execInfo: string
  /** One line for each file that the account depends on: path, modification time, size and inode. */
  readonly files: readonly string[]
  /** Whether these files alone decide which account the plugin uses. */
  readonly isAccountKnown: boolean
  readonly ttlMs?: number | undefined
  /** Time limit of the plugin; by default those of the agent. */
  readonly timeoutMs?: number | undefined
  /** Whether standard error of the client is a terminal: then a plugin without prompts has the interactive limit. */
  readonly isAttended?: boolean | undefined
  /** The client that started the requester. */
  readonly parent?: ProcessId | undefined
  /** Whether the plugin may prompt at a terminal. */
  readonly isInteractive: boolean
}

/** Requests the status of the same credential; runs nothing. */
export interface LookRequest extends Omit<GetRequest, 'do'> {
  readonly do: 'look'
}

/** Delivers the outcome of a run that the agent left to the requester. */
export interface DepositRequest {
  readonly do: 'deposit'
  readonly outcome: DepositedOutcome
}

/** An outcome as it is sent: bytes as base64. */
export type DepositedOutcome =
  | (Omit<Extract<RunOutcome, { ended: 'exited' }>, 'stdout'> & { readonly stdout: string })
  | Exclude<RunOutcome, { ended: 'exited' }>

/** A request without parameters. */
export interface PlainRequest {
  readonly do: 'status' | 'forget' | 'lock' | 'unlock' | 'stop'
}

export type Request = GetRequest | LookRequest | DepositRequest | PlainRequest

/** The error that explains why there is no credential. */
export interface Failed {
  readonly is: 'failed'
  readonly code: string
  readonly message: string
  readonly hint: string
  /** Exit status for the program that asked. */
  readonly exit: number
  readonly stderrTail?: string | undefined
  readonly nextTryAt?: number | undefined
}

/** What the agent sends. */
export type Answer =
  /** An ExecCredential, as the plugin would have printed it. */
  | { readonly is: 'credential'; readonly text: string }
  /** Run the plugin at your terminal and deposit the outcome; no other run starts meanwhile. */
  | { readonly is: 'run' }
  /** Run the plugin yourself: its answers have no expiry and are not shared. */
  | { readonly is: 'alone' }
  /** Standard error of the running plugin, without secrets. */
  | { readonly is: 'stderr'; readonly text: string }
  | { readonly is: 'status'; readonly status: AgentStatus }
  | { readonly is: 'seen'; readonly entry?: EntryStatus | undefined }
  | { readonly is: 'done' }
  | Failed

/** One credential that the agent keeps. No secrets: arguments are shown without their values. */
export interface EntryStatus extends Omit<KeeperStatus, 'source'> {
  readonly command: string
  readonly path: string
  readonly args: string
  /** Number of requests that wait for it. */
  readonly waiting: number
  readonly lastAskedAt: number
  readonly lastRunAt?: number
}

/** The state of an agent. */
export interface AgentStatus {
  readonly pid: number
  readonly version: string
  readonly startedAt: number
  readonly isLocked: boolean
  readonly entries: readonly EntryStatus[]
}

const LINE_BREAK = 10

/** Receives the lines of one connection. */
export interface FrameListener {
  onFrame(text: string): void
  /** A line exceeded the limit; reading has stopped. */
  onTooLong(): void
}

/** Splits incoming data into lines, and never buffers more than one of them. */
export function readFrames(
  socket: Socket,
  listener: FrameListener,
  maxBytes = MAX_FRAME_BYTES,
): void {
  let parts: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer): void => {
    let rest = chunk
    for (;;) {
      const end = rest.indexOf(LINE_BREAK)
      const part = end === -1 ? rest : rest.subarray(0, end)
      size += part.length
      if (size > maxBytes) {
        socket.off('data', onData)
        parts = []
        listener.onTooLong()
        return
      }
      parts.push(part)
      if (end === -1) return
      const text = Buffer.concat(parts).toString('utf8')
      parts = []
      size = 0
      rest = rest.subarray(end + 1)
      listener.onFrame(text)
      if (socket.destroyed) return
    }
  }
  socket.on('data', onData)
}

/** Writes one line, unless the connection is closed. */
export function writeFrame(socket: Socket, frame: object): void {
  if (!socket.destroyed && socket.writable) socket.write(`${JSON.stringify(frame)}\n`)
}

const PLAIN = ['status', 'forget', 'lock', 'unlock', 'stop'] as const

/**
 * Decodes one line that was sent to the agent; undefined if it is not a complete request.
 *
 * This is not a security check: only the user can write to the socket, and could run the plugin directly. It keeps the
 * agent alive whatever a broken client sends.
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
  const isComplete =
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
  if (!isComplete) return undefined
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

function readParent(value: unknown): ProcessId | undefined {
  if (!isFields(value)) return undefined
  const { pid, startedAt } = value
  if (!isCount(pid)) return undefined
  return { pid, ...(isCount(startedAt) && { startedAt }) }
}

const FAILED = ['timed-out', 'output-too-large', 'aborted'] as const

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
