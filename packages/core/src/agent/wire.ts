import type { RunOutcome } from '../ports/programs.ts'
import type { KeeperStatus } from '../vault/status.ts'

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
