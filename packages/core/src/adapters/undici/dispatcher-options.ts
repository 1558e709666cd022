import { NotSupportedError } from '../../errors/index.ts'
import type { CertificatePair } from '../../protocol/credential.ts'

/** Limits of the connections; names and meanings are undici's. */
export interface DispatcherOptions {
  /**
   * Whether HTTP/2 is offered to the server; needs undici 8. False unless told, and with a key that only signs.
   *
   * Upgrades use HTTP/1.1 in any case: the API server knows them in no other.
   */
  readonly allowH2?: boolean
  /** The most connections at once; no limit unless told. Each watch needs one, except over HTTP/2. */
  readonly connections?: number
  /** How long an idle connection is kept, in milliseconds; 60 seconds unless told. */
  readonly keepAliveTimeout?: number
  readonly keepAliveMaxTimeout?: number
  /** How long to wait for an answer to begin, in milliseconds; no limit unless told. */
  readonly headersTimeout?: number
  /** How long an answer may be silent, in milliseconds; no limit unless told, because a watch may be. */
  readonly bodyTimeout?: number
  readonly maxHeaderSize?: number
  readonly maxResponseSize?: number
  readonly strictContentLength?: boolean
}

/** What goes to undici, beside how to connect. */
export interface PoolOptions extends DispatcherOptions {
  readonly allowH2: boolean
}

/** The options under one identity or another. */
export type OptionsFor = (certificate: CertificatePair | undefined) => PoolOptions

const NAMES = [
  'connections',
  'keepAliveTimeout',
  'keepAliveMaxTimeout',
  'headersTimeout',
  'bodyTimeout',
  'maxHeaderSize',
  'maxResponseSize',
  'strictContentLength',
] as const satisfies (keyof DispatcherOptions)[]

/** What only undici 8 has, among its exports. */
const ONLY_IN_8 = 'Dispatcher1Wrapper'

/**
 * Takes from the options what is ours to pass on: another `connect` would go round our TLS.
 *
 * @throws {TypeError}
 * @throws {NotSupportedError} HTTP/2 with an undici that cannot do it.
 */
export function readOptions(given: DispatcherOptions, undici: object): OptionsFor {
  const unknown = Object.keys(given).find((name) => name !== 'allowH2' && !isKnown(name))
  if (unknown !== undefined) {
    throw new TypeError(`createDispatcher has no option ${JSON.stringify(unknown)}`)
  }
  if (given.allowH2 && !(ONLY_IN_8 in undici)) {
    // They end all requests of a connection, watches too, when the server sends GOAWAY. The API server
    // does so after a 401, which then never arrives.
    throw new NotSupportedError('allowH2 needs undici 8: HTTP/2 of earlier ones loses requests', {
      hint: 'Leave allowH2 out, or install undici 8.',
    })
  }
  const chosen = Object.fromEntries(
    NAMES.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  )
  return (certificate) => ({
    keepAliveTimeout: 60_000,
    // As in client-go, a request ends with its signal, its server or its connection, not with a timer of ours.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...chosen,
    // TLS with such a key runs over a stream of ours, and there undici brings Node's HTTP/2 into a loop: a large upload
    // that is refused midway ends the process. Our own HTTP/2, behind the other adapters, does not.
    allowH2: given.allowH2 === true && certificate?.signingKey === undefined,
  })
}

function isKnown(name: string): boolean {
  return (NAMES as readonly string[]).includes(name)
}
