import type { SignerAddress } from '../kubeconfig/external-signer-config.ts'
import type { RunFailure } from './programs.ts'

/** How a channel to a signer ended. */
export interface ChannelEnd {
  /** For messages, after the name of the signer: `ended with status 1`. */
  readonly how: string
  /** Undefined for a socket, and for a process terminated by a signal. */
  readonly exitStatus?: number | undefined
  /** Whether it closed cleanly: it had no open request and no incomplete output. */
  readonly isClean: boolean
  readonly tookMs: number
  /** The end of standard error, not scrubbed. */
  readonly stderrTail: string
}

/** Receives the output and the end of a channel. */
export interface ChannelListener {
  onOutput(bytes: Uint8Array): void
  /** Called once, as the last call. */
  onEnd(end: ChannelEnd): void
}

/** A connection to a running signer: a child process, or a process that listens on a socket. */
export interface SignerChannel {
  /** Whether the signer can prompt the user: a child process needs our terminal, a socket's process has its own means. */
  readonly canPrompt: boolean
  /** Writes one request. If the signer is gone, `onEnd` reports it. */
  send(line: string): void
  /** Sets whether a caller waits for the signer: only then it keeps this process alive. Releases its slot in the process limit. */
  setRef(isAwaited: boolean): void
  /** Ends the signer, at once or after closing its input. Resolves when it is gone. */
  end(how: 'gracefully' | 'now'): Promise<void>
  /** Returns the end of standard error so far, not scrubbed. */
  stderrTail(): string
}

/** A signer program to start. */
export interface SignerStart {
  /** Becomes argv[0]. */
  readonly command: string
  /** The file that was located and allowed by the policy. */
  readonly path: string
  /** Contains the first request, which is a secret. */
  readonly env: Readonly<Record<string, string>>
  /** Whether it inherits standard input and standard error, which are the terminal. */
  readonly interactive: boolean
  /** Called just before the process starts, after any wait for the process limit. */
  readonly onStart?: () => void
  /** Receives standard error while the signer runs, unless it is inherited. */
  readonly onStderr: (text: string) => void
  readonly signal: AbortSignal
}

/** Opens channels to signers. */
export interface SignerChannels {
  /** Starts a program as soon as the process limit allows it. Never rejects. */
  start(start: SignerStart, listener: ChannelListener): Promise<SignerChannel | RunFailure>
  /**
   * Connects to a signer that the user started, if no other user can have created its socket.
   *
   * @throws {SignerSocketError} `ERR_SIGNER_SOCKET`
   */
  dial(at: SignerAddress, listener: ChannelListener, signal: AbortSignal): Promise<SignerChannel>
}

/** A mutex that serves callers in the order of their calls. */
export interface SerialQueue {
  /**
   * Waits for the turn of the caller, and resolves with a function that ends it.
   *
   * @throws The reason of the signal, if it is aborted first.
   */
  take(signal: AbortSignal): Promise<() => void>
}
