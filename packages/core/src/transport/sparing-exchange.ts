import { Readable } from 'node:stream'
import { NotSupportedError } from '../errors/index.ts'
import type { Derived } from '../vault/derived.ts'
import type { Exchange, Incoming } from './exchange.ts'

interface Ways {
  /** What requests take whose key is at hand. */
  readonly usual: Exchange
  /** For servers that do not speak HTTP/2: few connections. */
  readonly few: Exchange
}

/**
 * Opens few connections where each costs a signature, which a person may have to confirm.
 *
 * Those with a signing key speak HTTP/2, or keep a few connections of HTTP/1.1 where the server does not.
 */
export function sparingExchange({ usual, few }: Ways): Exchange {
  const withoutHttp2 = new WeakMap<Derived, string>()
  return {
    send(target, lease, attempt) {
      // The hot path: no promise more than the pool makes.
      if (lease.credential.certificate?.signingKey === undefined) {
        return usual.send(target, lease, attempt)
      }
      const isPossible =
        target.origin.startsWith('https:') && withoutHttp2.get(lease.derived) !== target.key
      return isPossible ? sendSparingly(target, lease, attempt) : few.send(target, lease, attempt)
    },
  }

  async function sendSparingly(...request: Parameters<Exchange['send']>): Promise<Incoming> {
    // Loaded when used: most keys are at hand, and then HTTP/1.1 is faster.
    const { sendOverHttp2 } = await import('./http2-exchange.ts')
    const [{ key }, { derived }, { body }] = request
    try {
      return await sendOverHttp2(...request)
    } catch (error) {
      // Otherwise nothing of the request was sent, and nothing was signed.
      if (!(error instanceof NotSupportedError)) {
        if (body instanceof Readable) body.destroy()
        throw error
      }
    }
    withoutHttp2.set(derived, key)
    return few.send(...request)
  }
}
