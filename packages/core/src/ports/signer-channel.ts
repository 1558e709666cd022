import type { SignerAddress } from '../kubeconfig/external-signer-config.ts'
import type { RunFailure } from './programs.ts'

/** How a conversation with a signer ended. */
export interface ChannelEnd {
  /** For people, continuing the name of the signer: `ended with status 1`. */
  readonly how: string
  /** Undefined for a socket, and for a process that a signal ended. */
  readonly exitStatus?: number | undefined
  /** Whether it closed in order: it had nothing more to say, and was not asked anything more. */
  readonly isClean: boolean
  readonly tookMs: number
  /** The last part of standard error, as printed. Scrub it before showing. */
  readonly stderrTail: string
}

/** Whoever talks with a signer. */
export interface ChannelListener {
  onOutput(bytes: Uint8Array): void
  /** Called once; nothing comes after it. */
  onEnd(end: ChannelEnd): void
}

/** A signer that can be talked to: a process of ours, or somebody at the other end of a socket. */
export interface SignerChannel {
  /** Whether a person can be asked through it: our terminal for a process, its own business for a socket. */
  readonly canAsk: boolean
  /** Writes one request. When nobody reads it any more, the end will say so. */
  send(line: string): void
  /** Says whether somebody waits for it: only then it keeps this process alive. The place it started with is given back. */
  hold(isAwaited: boolean): void
  /** Ends it, at once or in order: then it is told first that nothing more comes. Resolves when it is gone. */
  end(how: 'in-order' | 'now'): Promise<void>
  /** The last part of standard error so far, as printed. */
  stderrTail(): string
}

export interface SignerStart {
  /** Becomes argv[0]. */
  readonly command: string
  /** The file that was checked. */
  readonly path: string
  /** Holds the first request, which is a secret. */
  readonly env: Readonly<Record<string, string>>
  /** Whether standard input and error are the terminal itself. */
  readonly interactive: boolean
  /** Called when there is a place for it, just before it starts. */
  readonly onStart?: () => void
  /** Receives standard error as it comes, where it is not the terminal. */
  readonly onStderr: (text: string) => void
  readonly signal: AbortSignal
}

/** Opens conversations with signers. */
export interface SignerChannels {
  /** Starts a program when there is a place for it. Never rejects. */
  start(start: SignerStart, listener: ChannelListener): Promise<SignerChannel | RunFailure>
  /**
   * Connects to a signer that the user started, if no other user could have put it there.
   *
   * @throws {SignerSocketError}
   */
  dial(at: SignerAddress, listener: ChannelListener, signal: AbortSignal): Promise<SignerChannel>
}

/** One after the other, in the order they came. */
export interface SerialQueue {
  /**
   * Resolves with a function that ends the turn.
   *
   * @throws The signal's reason, when it is aborted first.
   */
  take(signal: AbortSignal): Promise<() => void>
}
