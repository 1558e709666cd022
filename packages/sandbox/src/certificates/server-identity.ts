import type { TlsOptions } from 'node:tls'
import { type Authority, createAuthority, type KeyedCertificate } from './authority.ts'
import { issueServerCertificate } from './server-certificate.ts'

const NAME = 'sandbox-ca'

/** The authority of the server's certificate, and the certificate; both can be replaced. */
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

  /** What a server needs to show itself. */
  get tls(): TlsOptions {
    return { cert: this.#certificate.certificate, key: this.#certificate.key }
  }

  /** Makes another authority of the same name, as tools that renew a cluster do, and a certificate of it. */
  async rotate(): Promise<void> {
    const authority = await createAuthority(NAME)
    this.#certificate = await issueServerCertificate(authority)
    this.#authority = authority
  }
}
