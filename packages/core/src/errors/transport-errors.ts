import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 60 to 79: requests on their way to the server. */
export const TRANSPORT_CODES = {
  ERR_SERVER_UNREACHABLE: facts(
    60,
    'network',
    'retryable',
    'No connection to the API server could be made, or it broke.',
    'Check the server address in the kubeconfig, and your network or VPN.',
  ),
  ERR_SERVER_UNTRUSTED: facts(
    61,
    'server',
    'final',
    'The certificate of the API server was not accepted; nothing was sent to it.',
    'Check certificate-authority and tls-server-name of the cluster entry.',
  ),
  ERR_CERTIFICATE_REFUSED: facts(
    62,
    'server',
    'retryable',
    'The API server refused our client certificate during the TLS handshake.',
    'Check that the certificate has not expired and comes from a CA the server knows.',
  ),
  ERR_TOO_MANY_STREAMS: facts(
    63,
    'caller',
    'retryable',
    'As many watches and other long requests are open as one identity may have.',
    'Close streams that are no longer read, or raise policy.streamLimit.',
  ),
  ERR_FOREIGN_ORIGIN: facts(
    64,
    'caller',
    'final',
    'A request was meant for another server than the one the credential belongs to.',
    'Pass a path, or a URL of this cluster.',
  ),
  ERR_TIMED_OUT: facts(
    65,
    'network',
    'retryable',
    'The time limit of the request or of the whole command passed.',
    'Try again, or raise --request-timeout or --timeout.',
  ),
  ERR_CLOSED: facts(
    66,
    'caller',
    'final',
    'The cluster connection was used after close().',
    'Call connect() again.',
  ),
  ERR_PROXY_FAILED: facts(
    67,
    'network',
    'retryable',
    'The proxy on the way to the API server was not there, refused, or made no sense.',
    'Check proxy-url of the cluster entry, or HTTPS_PROXY and NO_PROXY in the environment.',
  ),
  ERR_CONNECTION_RETIRED: facts(
    68,
    'caller',
    'retryable',
    'A request was still open on a replaced certificate or CA when policy.drainLimitMs passed.',
    'Send it again, or raise policy.drainLimitMs; without it, such requests may go on.',
  ),
  ERR_PEER_MISSING: facts(
    69,
    'caller',
    'final',
    'A part of the library needs a package that is not installed.',
    'Install the package that the message names, or hand it over by option.',
  ),
  ERR_UPGRADE_REFUSED: facts(
    71,
    'server',
    'final',
    'The API server answered a WebSocket with an ordinary response.',
    'Look at the status and the message of the answer: it says what the server did not like.',
  ),
  ERR_SERVER_RESPONSE_INVALID: facts(
    72,
    'server',
    'final',
    'What answered is no API server, or one that does not keep to the API.',
    'Check the server address in the kubeconfig, and the proxy on the way.',
  ),
} as const

abstract class TransportFamilyError<
  C extends keyof typeof TRANSPORT_CODES,
> extends CredentialError<C> {
  protected override get facts(): CodeFacts {
    return TRANSPORT_CODES[this.code]
  }
}

export class ServerUnreachableError extends TransportFamilyError<'ERR_SERVER_UNREACHABLE'> {
  readonly code = 'ERR_SERVER_UNREACHABLE' as const
  readonly server: string

  constructor(server: string, reason: string, init: ErrorInit = {}) {
    super(`no answer from ${server}: ${reason}`, init)
    this.server = server
  }
}

export class ServerUntrustedError extends TransportFamilyError<'ERR_SERVER_UNTRUSTED'> {
  readonly code = 'ERR_SERVER_UNTRUSTED' as const
  readonly server: string

  constructor(server: string, reason: string, init: ErrorInit = {}) {
    super(`the certificate of ${server} was not accepted: ${reason}`, init)
    this.server = server
  }
}

export class CertificateRefusedError extends TransportFamilyError<'ERR_CERTIFICATE_REFUSED'> {
  readonly code = 'ERR_CERTIFICATE_REFUSED' as const
  readonly server: string

  constructor(server: string, alert: string, init: ErrorInit = {}) {
    // This alert means that there was none (RFC 8446, section 6.2).
    const what =
      alert === 'certificate required'
        ? 'wants a client certificate, and was sent none'
        : 'refused our client certificate'
    super(`${server} ${what} (${alert})`, init)
    this.server = server
  }
}

/** It was the proxy, not the server. `proxy` is its address without user and password. */
export class ProxyFailedError extends TransportFamilyError<'ERR_PROXY_FAILED'> {
  readonly code = 'ERR_PROXY_FAILED' as const
  readonly proxy: string

  constructor(proxy: string, what: string, init: ErrorInit = {}) {
    super(`the proxy ${proxy} ${what}`, init)
    this.proxy = proxy
  }
}

export class TooManyStreamsError extends TransportFamilyError<'ERR_TOO_MANY_STREAMS'> {
  readonly code = 'ERR_TOO_MANY_STREAMS' as const
}

export class ForeignOriginError extends TransportFamilyError<'ERR_FOREIGN_ORIGIN'> {
  readonly code = 'ERR_FOREIGN_ORIGIN' as const
}

export class TimedOutError extends TransportFamilyError<'ERR_TIMED_OUT'> {
  readonly code = 'ERR_TIMED_OUT' as const
}

export class ClosedError extends TransportFamilyError<'ERR_CLOSED'> {
  readonly code = 'ERR_CLOSED' as const

  constructor() {
    super('this cluster connection is closed')
  }
}

export class ConnectionRetiredError extends TransportFamilyError<'ERR_CONNECTION_RETIRED'> {
  readonly code = 'ERR_CONNECTION_RETIRED' as const

  constructor(limitMs: number) {
    super(
      `the certificate or CA of this connection was replaced, and ${limitMs} ms to finish have passed`,
    )
  }
}

/** `peer` is the name to install. */
export class PeerMissingError extends TransportFamilyError<'ERR_PEER_MISSING'> {
  readonly code = 'ERR_PEER_MISSING' as const
  readonly peer: string

  constructor(subpath: string, peer: string, init: ErrorInit = {}) {
    super(`${subpath} needs the package ${peer}, which is not installed`, {
      hint: `Run "npm install ${peer}".`,
      ...init,
    })
    this.peer = peer
  }
}

/** An answer without what the API says must be in it. */
export class ServerResponseInvalidError extends TransportFamilyError<'ERR_SERVER_RESPONSE_INVALID'> {
  readonly code = 'ERR_SERVER_RESPONSE_INVALID' as const
  readonly server: string

  constructor(server: string, expected: string, init: ErrorInit = {}) {
    super(`${server} did not answer with ${expected}`, init)
    this.server = server
  }
}

/** The server's own answer to an upgrade; `status` is never 101. */
export class UpgradeRefusedError extends TransportFamilyError<'ERR_UPGRADE_REFUSED'> {
  readonly code = 'ERR_UPGRADE_REFUSED' as const
  readonly status: number

  constructor(status: number, reason: string, init: ErrorInit = {}) {
    super(`the server refused the upgrade with status ${status}: ${reason}`, init)
    this.status = status
  }
}

/** Why the certificate at the other end was not accepted, by Node's code. */
export const UNTRUSTED_REASONS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed and not among the CAs to trust',
  SELF_SIGNED_CERT_IN_CHAIN: 'its CA is not among those to trust',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its CA is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'its CA is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its CA is not known here',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet; check the clock of this machine',
  CERT_SIGNATURE_FAILURE: 'its signature is wrong: another CA of the same name issued it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
}

/** Why there is no connection, or no more, by Node's or undici's code. */
export const UNREACHABLE_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while sending',
  ENOTFOUND: 'its name cannot be resolved',
  EAI_AGAIN: 'name resolution does not work at the moment',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the server closed the connection',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on this port',
  EPROTO: 'the TLS handshake failed',
}
