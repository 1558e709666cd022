import type { Socket } from 'node:net'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import type { CertificatePair } from '../credential/credential.ts'
import type { SigningKey } from '../credential/signing-key.ts'
import { isCredentialError, SignerFailedError } from '../errors/index.ts'
import { oneLine } from '../sources/signer-secrets.ts'
import { describeThrown, printableCause } from '../vault/log-in.ts'

type Signed = CertificatePair & { readonly signingKey: SigningKey }

/** How long a person may take; signers have the same limit of their own. */
const SIGNING_LIMIT_MS = 600_000

/** A time limit that is another one while a person acts. */
export class DialLimit {
  readonly #ms: number
  readonly #onEnd: () => void
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(ms: number, onEnd: () => void) {
    this.#ms = ms
    this.#onEnd = onEnd
    this.#start(ms)
  }

  /** While `work` goes on, it has the time of a person. Then the limit begins anew: that said nothing about the network. */
  async whileSigning<T>(work: Promise<T>): Promise<T> {
    this.#start(SIGNING_LIMIT_MS)
    try {
      return await work
    } finally {
      this.#start(this.#ms)
    }
  }

  /** For good: the connection is there, or nobody wants it any more. */
  stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }

  #start(ms: number): void {
    clearTimeout(this.#timer)
    if (!this.#isOver) this.#timer = setTimeout(this.#onEnd, ms)
  }
}

interface Signing {
  readonly limit: DialLimit
  readonly signal: AbortSignal | undefined
  /** Throws when the connection is of no use. */
  readonly beforeSigning: ((socket: TLSSocket) => void) | undefined
}

/** Speaks TLS over a connection that is there; what only the private key can sign is signed elsewhere. */
export async function wrapSigned(
  socket: Socket,
  options: ConnectionOptions,
  { chain, signingKey }: Signed,
  { limit, signal, beforeSigning }: Signing,
): Promise<Socket> {
  // Loaded when used: most connections have their key at hand.
  const { connectSigned } = await import('../tls/connect-signed.ts')
  const secured = await connectSigned({
    socket,
    tls: { ALPNProtocols: ['http/1.1'], ...options },
    chain,
    signingKey: unhurried(explained(signingKey), limit),
    ...(signal && { signal }),
    ...(beforeSigning && { beforeSigning }),
  })
  // Between two owners nobody listens, and an error that nobody hears would end the process.
  return secured.on('error', () => {})
}

/** What of a key's own words is shown. */
const SHOWN_REASON = 300

/** The same key, whose failures are its own: a key that people write throws what it likes. */
function explained(signingKey: SigningKey): SigningKey {
  const explain = async <T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    try {
      return await ask()
    } catch (cause) {
      if (isCredentialError(cause) || signal.aborted) throw cause
      const why = oneLine(describeThrown(cause, 0), SHOWN_REASON)
      throw new SignerFailedError('of this login', `gave no signature: ${why}`, {
        cause: printableCause(cause, []),
      })
    }
  }
  return {
    choose: (schemes, signal) => explain(() => signingKey.choose(schemes, signal), signal),
    sign: (request) => explain(() => signingKey.sign(request), request.signal),
  }
}

/** The same key, with a time limit that waits for it. */
function unhurried(signingKey: SigningKey, limit: DialLimit): SigningKey {
  return {
    choose: (schemes, signal) => limit.whileSigning(signingKey.choose(schemes, signal)),
    sign: (request) => limit.whileSigning(signingKey.sign(request)),
  }
}
