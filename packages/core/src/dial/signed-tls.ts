import type { Socket } from 'node:net'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import type { CertificatePair } from '../credential/credential.ts'
import type { SigningKey } from '../credential/signing-key.ts'
import { isCredentialError, SignerFailedError } from '../errors/index.ts'
import { oneLine } from '../sources/signer-secrets.ts'
import { describeThrown, printableCause } from '../vault/log-in.ts'

type SignedPair = CertificatePair & { readonly signingKey: SigningKey }

/** Limit for a signature, which may need a user; signers apply the same limit themselves. */
const SIGNING_LIMIT_MS = 600_000

/** The timeout of a dial, which is longer while a signature is pending. */
export class DialTimeout {
  readonly #ms: number
  readonly #onTimeout: () => void
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(ms: number, onTimeout: () => void) {
    this.#ms = ms
    this.#onTimeout = onTimeout
    this.#start(ms)
  }

  /** Applies the limit for signatures while `work` is pending, then restarts the normal timeout. */
  async whileSigning<T>(work: Promise<T>): Promise<T> {
    this.#start(SIGNING_LIMIT_MS)
    try {
      return await work
    } finally {
      this.#start(this.#ms)
    }
  }

  /** Stops the timeout for good: the connection is open, or given up. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #start(ms: number): void {
    clearTimeout(this.#timer)
    if (!this.#isStopped) this.#timer = setTimeout(this.#onTimeout, ms)
  }
}

interface SignedTlsContext {
  readonly timeout: DialTimeout
  readonly signal: AbortSignal | undefined
  /** Throws to give up the connection before anything is signed. */
  readonly beforeSigning: ((socket: TLSSocket) => void) | undefined
}

/** Starts TLS over an open socket, with a client certificate whose key is a signing key. */
export async function startSignedTls(
  socket: Socket,
  options: ConnectionOptions,
  { chain, signingKey }: SignedPair,
  { timeout, signal, beforeSigning }: SignedTlsContext,
): Promise<Socket> {
  // Loaded on demand: most connections have no signing key.
  const { connectSigned } = await import('../tls/connect-signed.ts')
  const secured = await connectSigned({
    socket,
    tls: { ALPNProtocols: ['http/1.1'], ...options },
    chain,
    signingKey: withSigningTimeout(withExplainedErrors(signingKey), timeout),
    ...(signal && { signal }),
    ...(beforeSigning && { beforeSigning }),
  })
  // An error before the caller adds a listener must not crash the process.
  return secured.on('error', () => {})
}

/** Limit for the part of a key's error message that is shown. */
const MAX_REASON_LENGTH = 300

/** Returns the key with its errors converted to `SignerFailedError`: a key of a login handler may throw anything. */
function withExplainedErrors(signingKey: SigningKey): SigningKey {
  const explain = async <T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    try {
      return await ask()
    } catch (cause) {
      if (isCredentialError(cause) || signal.aborted) throw cause
      const why = oneLine(describeThrown(cause, 0), MAX_REASON_LENGTH)
      throw new SignerFailedError('of this login', `returned no signature: ${why}`, {
        cause: printableCause(cause, []),
      })
    }
  }
  return {
    choose: (schemes, signal) => explain(() => signingKey.choose(schemes, signal), signal),
    sign: (request) => explain(() => signingKey.sign(request), request.signal),
  }
}

/** Returns the key with the limit for signatures while it is used. */
function withSigningTimeout(signingKey: SigningKey, timeout: DialTimeout): SigningKey {
  return {
    choose: (schemes, signal) => timeout.whileSigning(signingKey.choose(schemes, signal)),
    sign: (request) => timeout.whileSigning(signingKey.sign(request)),
  }
}
