import type { TlsOptions } from 'node:tls'
import { type Authority, createAuthority, type KeyedCertificate } from './authority.ts'
import { issueServerCertificate } from './server-certificate.ts'

const NAME = 'sandbox-ca'

/** The server's certificate and its CA; both can be rotated. */
export class ServerIdentity {
  #authority: Authority
  #certificate: KeyedCertificate

  private constructor(authority: Authority, certificate: KeyedCertificate) {
    this.#authority = authority
    this.#certificate = certificate
  }

  static async create(): Promise<ServerIdentity> {
    const authority = await createAuthority(NAME)
    return new ServerIdentity(authority, await issueServerCertificate(authority))
  }

  get authority(): Authority {
    return this.#authority
  }

  /** The TLS options of the server. */
  get tls(): TlsOptions {
    return { cert: this.#certificate.certificate, key: this.#certificate.key }
  }

  /** Replaces the CA by a new one with the same name, as cluster tools do, and issues a new certificate from it. */
  async rotate(): Promise<void> {
    const authority = await createAuthority(NAME)
    this.#certificate = await issueServerCertificate(authority)
    this.#authority = authority
  }
}
