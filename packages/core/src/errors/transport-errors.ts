import { CredentialError, type ErrorInit } from './credential-error.ts'

export class ServerUnreachableError extends CredentialError<'ERR_SERVER_UNREACHABLE'> {
  readonly code = 'ERR_SERVER_UNREACHABLE' as const
  readonly server: string

  constructor(server: string, reason: string, init: ErrorInit = {}) {
    super(`no answer from ${server}: ${reason}`, init)
    this.server = server
  }
}

export class ServerUntrustedError extends CredentialError<'ERR_SERVER_UNTRUSTED'> {
  readonly code = 'ERR_SERVER_UNTRUSTED' as const
  readonly server: string

  constructor(server: string, reason: string, init: ErrorInit = {}) {
    super(`the certificate of ${server} was not accepted: ${reason}`, init)
    this.server = server
  }
}

export class CertificateRefusedError extends CredentialError<'ERR_CERTIFICATE_REFUSED'> {
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
export class ProxyFailedError extends CredentialError<'ERR_PROXY_FAILED'> {
  readonly code = 'ERR_PROXY_FAILED' as const
  readonly proxy: string

  constructor(proxy: string, what: string, init: ErrorInit = {}) {
    super(`the proxy ${proxy} ${what}`, init)
    this.proxy = proxy
  }
}

export class TooManyStreamsError extends CredentialError<'ERR_TOO_MANY_STREAMS'> {
  readonly code = 'ERR_TOO_MANY_STREAMS' as const
}

export class ForeignOriginError extends CredentialError<'ERR_FOREIGN_ORIGIN'> {
  readonly code = 'ERR_FOREIGN_ORIGIN' as const
}

export class TimedOutError extends CredentialError<'ERR_TIMED_OUT'> {
  readonly code = 'ERR_TIMED_OUT' as const
}

export class ClosedError extends CredentialError<'ERR_CLOSED'> {
  readonly code = 'ERR_CLOSED' as const

  constructor() {
    super('this cluster connection is closed')
  }
}

export class ConnectionRetiredError extends CredentialError<'ERR_CONNECTION_RETIRED'> {
  readonly code = 'ERR_CONNECTION_RETIRED' as const

  constructor(limitMs: number) {
    super(
      `the certificate or CA of this connection was replaced, and ${limitMs} ms to finish have passed`,
    )
  }
}

/** `peer` is the name to install. */
export class PeerMissingError extends CredentialError<'ERR_PEER_MISSING'> {
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
export class ServerAnswerError extends CredentialError<'ERR_SERVER_ANSWER'> {
  readonly code = 'ERR_SERVER_ANSWER' as const
  readonly server: string

  constructor(server: string, expected: string, init: ErrorInit = {}) {
    super(`${server} did not answer with ${expected}`, init)
    this.server = server
  }
}

/** The server's own answer to an upgrade; `status` is never 101. */
export class UpgradeRefusedError extends CredentialError<'ERR_UPGRADE_REFUSED'> {
  readonly code = 'ERR_UPGRADE_REFUSED' as const
  readonly status: number

  constructor(status: number, reason: string, init: ErrorInit = {}) {
    super(`the server refused the upgrade with status ${status}: ${reason}`, init)
    this.status = status
  }
}
