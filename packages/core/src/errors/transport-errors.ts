import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 60 to 79: requests to the API server. */
export const TRANSPORT_CODES = {
  ERR_SERVER_UNREACHABLE: facts(
    60,
    'network',
    'retryable',
    'The connection to the API server failed or broke.',
    'Check the server address in the kubeconfig, and your network or VPN.',
  ),
  ERR_SERVER_UNTRUSTED: facts(
    61,
    'server',
    'final',
    'The certificate of the API server could not be verified; no request was sent.',
    'Check certificate-authority and tls-server-name of the cluster entry.',
  ),
  ERR_CERTIFICATE_REFUSED: facts(
    62,
    'server',
    'retryable',
    'The API server rejected the client certificate in the TLS handshake, or required one.',
    'Check that the client certificate has not expired and is signed by a CA that the server trusts.',
  ),
  ERR_TOO_MANY_STREAMS: facts(
    63,
    'caller',
    'retryable',
    'The limit of open watches and other streams is reached.',
    'Close streams that are no longer read, or raise policy.streamLimit.',
  ),
  ERR_FOREIGN_ORIGIN: facts(
    64,
    'caller',
    'final',
    'A request is for another origin than the API server that the credential belongs to.',
    'Pass a path, or a URL of this cluster.',
  ),
  ERR_TIMED_OUT: facts(
    65,
    'network',
    'retryable',
    'The request or the whole command did not finish within its time limit.',
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
    'The proxy to the API server is unreachable, refused the connection, or sent an invalid response.',
    'Check proxy-url of the cluster entry, or HTTPS_PROXY and NO_PROXY in the environment.',
  ),
  ERR_CONNECTION_RETIRED: facts(
    68,
    'caller',
    'retryable',
    'A request was still using a replaced certificate or CA after policy.drainLimitMs.',
    'Send the request again, or raise or remove policy.drainLimitMs.',
  ),
  ERR_PEER_MISSING: facts(
    69,
    'caller',
    'final',
    'An optional peer dependency is not installed.',
    'Install the package named in the message, or pass it as an option.',
  ),
  ERR_UPGRADE_REFUSED: facts(
    71,
    'server',
    'final',
    'The API server refused to upgrade the connection to WebSocket.',
    'Check the status and the reason in the message.',
  ),
  ERR_SERVER_RESPONSE_INVALID: facts(
    72,
    'server',
    'final',
    'The response is not one that a Kubernetes API server sends.',
    'Check the server address in the kubeconfig, and any proxy.',
  ),
  ERR_TOKEN_REVIEW: facts(
    73,
    'server',
    'retryable',
    'The API server could not review the token of a caller of the proxy, so the caller was refused.',
    'Check that the server is reachable, and that the identity of the proxy may create tokenreviews.',
  ),
} as const

abstract class TransportFamilyError<
  C extends keyof typeof TRANSPORT_CODES,
> extends CredentialError<C> {
  protected override codeFacts(): CodeFacts {
    return TRANSPORT_CODES[this.code]
  }
}

/** The connection to the server failed or broke. */
export class ServerUnreachableError extends TransportFamilyError<'ERR_SERVER_UNREACHABLE'> {
  static readonly code = 'ERR_SERVER_UNREACHABLE'
  readonly server: string

  constructor(server: string, reason: string, init: ErrorInit = {}) {
    super(`connection to ${server} failed: ${reason}`, init)
    this.server = server
  }
}

/** The certificate of the server could not be verified. No request was sent. */
export class ServerUntrustedError extends TransportFamilyError<'ERR_SERVER_UNTRUSTED'> {
  static readonly code = 'ERR_SERVER_UNTRUSTED'
  readonly server: string

  constructor(server: string, reason: string, init: ErrorInit = {}) {
    super(`failed to verify the certificate of ${server}: ${reason}`, init)
    this.server = server
  }
}

/** The server rejected the client certificate in the TLS handshake, or required one. */
export class CertificateRefusedError extends TransportFamilyError<'ERR_CERTIFICATE_REFUSED'> {
  static readonly code = 'ERR_CERTIFICATE_REFUSED'
  readonly server: string

  constructor(server: string, alert: string, init: ErrorInit = {}) {
    // The alert of RFC 8446, section 6.2, for a client that sent no certificate.
    const what =
      alert === 'certificate required'
        ? 'requires a client certificate, but none was sent'
        : 'rejected the client certificate'
    super(`${server} ${what} (${alert})`, init)
    this.server = server
  }
}

/** The proxy failed, not the server. `proxy` is its address without user name and password. */
export class ProxyFailedError extends TransportFamilyError<'ERR_PROXY_FAILED'> {
  static readonly code = 'ERR_PROXY_FAILED'
  readonly proxy: string

  constructor(proxy: string, what: string, init: ErrorInit = {}) {
    super(`the proxy ${proxy} ${what}`, init)
    this.proxy = proxy
  }
}

/** The limit of open watches and other streams is reached. */
export class TooManyStreamsError extends TransportFamilyError<'ERR_TOO_MANY_STREAMS'> {
  static readonly code = 'ERR_TOO_MANY_STREAMS'
}

/** A request is for another origin than the API server that the credential belongs to. */
export class ForeignOriginError extends TransportFamilyError<'ERR_FOREIGN_ORIGIN'> {
  static readonly code = 'ERR_FOREIGN_ORIGIN'
}

/** A request or command did not finish within its time limit. */
export class TimedOutError extends TransportFamilyError<'ERR_TIMED_OUT'> {
  static readonly code = 'ERR_TIMED_OUT'
}

/** The cluster connection was used after `close()`. */
export class ClosedError extends TransportFamilyError<'ERR_CLOSED'> {
  static readonly code = 'ERR_CLOSED'

  constructor() {
    super('the cluster connection is closed')
  }
}

/** A request was still using a replaced certificate or CA after `policy.drainLimitMs`. */
export class ConnectionRetiredError extends TransportFamilyError<'ERR_CONNECTION_RETIRED'> {
  static readonly code = 'ERR_CONNECTION_RETIRED'

  constructor(limitMs: number) {
    super(
      `the certificate or CA of this connection was replaced, and the request did not finish within ${limitMs} ms`,
    )
  }
}

/** An optional peer dependency is not installed. `peer` is the name of the package. */
export class PeerMissingError extends TransportFamilyError<'ERR_PEER_MISSING'> {
  static readonly code = 'ERR_PEER_MISSING'
  readonly peer: string

  constructor(subpath: string, peer: string, init: ErrorInit = {}) {
    super(`${subpath} needs the package ${peer}, which is not installed`, {
      hint: `Run "npm install ${peer}".`,
      ...init,
    })
    this.peer = peer
  }
}

/** The response of the server is not what the Kubernetes API defines. */
export class ServerResponseInvalidError extends TransportFamilyError<'ERR_SERVER_RESPONSE_INVALID'> {
  static readonly code = 'ERR_SERVER_RESPONSE_INVALID'
  readonly server: string

  constructor(server: string, expected: string, init: ErrorInit = {}) {
    super(`${server} did not return ${expected}`, init)
    this.server = server
  }
}

/** The server refused to upgrade the connection; `status` is never 101. */
export class UpgradeRefusedError extends TransportFamilyError<'ERR_UPGRADE_REFUSED'> {
  static readonly code = 'ERR_UPGRADE_REFUSED'
  readonly status: number

  constructor(status: number, reason: string, init: ErrorInit = {}) {
    super(`the server refused the upgrade with status ${status}: ${reason}`, init)
    this.status = status
  }
}

/** The API server could not review the token of a caller. The message never contains the token. */
export class TokenReviewError extends TransportFamilyError<'ERR_TOKEN_REVIEW'> {
  static readonly code = 'ERR_TOKEN_REVIEW'

  constructor(reason: string, init: ErrorInit = {}) {
    super(`the token of the caller could not be reviewed: ${reason}`, init)
  }
}

/** Why the certificate of a server could not be verified, by Node's error code. */
export const UNTRUSTED_REASONS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed certificate, not signed by a trusted authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate signed by an unknown authority',
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not yet valid; check the system clock',
  CERT_SIGNATURE_FAILURE: 'invalid certificate signature: another CA with the same name issued it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is not valid for this host name',
}

/** Why a connection failed or broke, by the error code of Node or undici. */
export const UNREACHABLE_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EPIPE: 'connection closed while sending the request',
  ENOTFOUND: 'could not resolve host',
  EAI_AGAIN: 'temporary failure in name resolution',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_SOCKET: 'connection closed by peer',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS server on this port',
  EPROTO: 'TLS handshake failed',
}
