import type { Socket } from 'node:net'
import { type Fields, isFields, type KeeperStatus, type RunOutcome } from 'kubecred/internal'

/** One line of JSON in either direction may have this many bytes. */
export const MOST_FRAME_BYTES = 1024 * 1024

/** A process by number and time of its start: numbers are used again. */
export interface ProcessName {
  readonly pid: number
  /** In ticks of the kernel; undefined where the system does not tell. */
  readonly startedAt?: number | undefined
}

/** Somebody needs a credential: everything that decides what the plugin would answer. */
export interface GetRequest {
  readonly do: 'get'
  /** The file to run, found and judged by who asks. */
  readonly path: string
  /** What becomes argv[0]. */
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** What the client told the plugin, without `interactive`: JSON. */
  readonly execInfo: string
  /** One line for each file that the account depends on: its path and what the system says of it. */
  readonly files: readonly string[]
  /** Whether these files are all that decides who the plugin answers for. */
  readonly isAccountKnown: boolean
  readonly ttlMs?: number | undefined
  /** How long the plugin may take; the agent's own limits unless given. */
  readonly timeoutMs?: number | undefined
  /** Whether a person sees that the client waits: then a plugin that does not ask has as long as one that does. */
  readonly isAttended?: boolean | undefined
  /** The client that started who asks. */
  readonly parent?: ProcessName | undefined
  /** Whether there is a person at a terminal, and the plugin may ask. */
  readonly isInteractive: boolean
}

/** Somebody wants to know how the same credential is doing; nothing runs. */
export interface LookRequest extends Omit<GetRequest, 'do'> {
  readonly do: 'look'
}

/** How a run ended that the agent left to who asked. */
export interface DepositRequest {
  readonly do: 'deposit'
  readonly outcome: DepositedOutcome
}

/** An outcome as it goes over the wire: bytes as base64. */
export type DepositedOutcome =
  | (Omit<Extract<RunOutcome, { ended: 'exited' }>, 'stdout'> & { readonly stdout: string })
  | Exclude<RunOutcome, { ended: 'exited' }>

/** What else an agent can be told. */
export interface PlainRequest {
  readonly do: 'status' | 'forget' | 'lock' | 'unlock' | 'stop'
}

export type Request = GetRequest | LookRequest | DepositRequest | PlainRequest

/** Why there is no credential, in the words of the error. */
export interface Failed {
  readonly is: 'failed'
  readonly code: string
  readonly message: string
  readonly hint: string
  /** What the program that asked should end with. */
  readonly exit: number
  readonly stderrTail?: string | undefined
  readonly nextTryAt?: number | undefined
}

export type Answer =
  /** An ExecCredential, as the plugin would have printed it. */
  | { readonly is: 'credential'; readonly text: string }
  /** Run it yourself, at your terminal, and deposit how it ended; meanwhile nobody else runs it. */
  | { readonly is: 'run' }
  /** Run it yourself and keep it: what this plugin answers is not for sharing. */
  | { readonly is: 'alone' }
  /** What the plugin says while it runs, without secrets. */
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
  /** Programs that wait for it now. */
  readonly waiting: number
  readonly lastAskedAt: number
  readonly lastRunAt?: number
}

/** What an agent knows of itself. */
export interface AgentStatus {
  readonly pid: number
  readonly version: string
  readonly startedAt: number
  readonly isLocked: boolean
  readonly entries: readonly EntryStatus[]
}

const LINE_BREAK = 10

/** Hears the lines of one connection. */
export interface FrameListener {
  onFrame(text: string): void
  /** A line was longer than any can be; nothing more is read. */
  onTooLong(): void
}

/** Takes what arrives apart into lines, and never holds more than one of them. */
export function readFrames(
  socket: Socket,
  listener: FrameListener,
  mostBytes = MOST_FRAME_BYTES,
): void {
  let parts: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer): void => {
    let rest = chunk
    for (;;) {
      const end = rest.indexOf(LINE_BREAK)
      const part = end === -1 ? rest : rest.subarray(0, end)
      size += part.length
      if (size > mostBytes) {
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

/** Writes one line, unless the other side has left. */
export function writeFrame(socket: Socket, frame: object): void {
  if (!socket.destroyed && socket.writable) socket.write(`${JSON.stringify(frame)}\n`)
}

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
