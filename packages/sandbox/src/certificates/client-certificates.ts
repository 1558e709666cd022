import { X509Certificate } from 'node:crypto'
import { type Authority, createAuthority } from './authority.ts'
import type { DistinguishedName } from './x509-module.ts'

/** The user and the lifetime of a client certificate, and options that make it invalid. */
export interface CertificateOptions {
  /** The common name, which Kubernetes uses as the user name. */
  readonly user: string
  /** The organisations, which Kubernetes uses as groups. */
  readonly groups?: readonly string[] | undefined
  /** Counted from `notBefore` if it is set, else from now. By default one hour; may be negative. */
  readonly lifetimeMs?: number | undefined
  readonly notBefore?: Date | undefined
  /** Issues the certificate from an intermediate CA, whose certificate follows the leaf. */
  readonly intermediate?: boolean | undefined
  /** Issues the certificate from a CA that the server does not trust. */
  readonly untrusted?: boolean | undefined
  /** PEM of the public key to certify, for example of a key in a token. The result then has no private key. */
  readonly publicKey?: string | undefined
}

/** A client certificate as PEM, leaf first, and its PKCS#8 key. */
export interface IssuedCertificate {
  readonly certificate: string
  /** Empty if the certificate was issued for a given public key. */
  readonly key: string
  readonly notAfter: Date
}

const HOUR_MS = 3_600_000
const BACKDATE_MS = 60_000

/** Issues and revokes client certificates. */
export class ClientCertificates {
  readonly #authority: Authority
  readonly #now: () => number
  readonly #issued = new Map<string, Set<string>>()
  readonly #revoked = new Set<string>()
  #intermediate: Promise<Authority> | undefined
  #untrusted: Promise<Authority> | undefined

  constructor(authority: Authority, now: () => number) {
    this.#authority = authority
    this.#now = now
  }

  async issue(options: CertificateOptions): Promise<IssuedCertificate> {
    const { user, groups = [], lifetimeMs = HOUR_MS } = options
    const start = options.notBefore?.getTime() ?? this.#now()
    // X.509 has whole seconds; rounding down could make a short-lived certificate expire at once.
    const notAfter = new Date(Math.ceil((start + lifetimeMs) / 1000) * 1000)
    // TLS uses the system clock, which may be behind the sandbox's own.
    const earliest = Math.min(start, start + lifetimeMs, Date.now())
    const notBefore = options.notBefore ?? new Date(earliest - BACKDATE_MS)
    const subject: DistinguishedName = [
      { CN: [user] },
      ...(groups.length === 0 ? [] : [{ O: groups }]),
    ]
    const signer = await this.#signer(options)
    const { publicKey } = options
    const issued = await signer.issue({ subject, notBefore, notAfter, usage: 'client', publicKey })
    this.#remember(user, issued.certificate)
    const chain = options.intermediate === true ? signer.certificate : ''
    return { certificate: issued.certificate + chain, key: issued.key, notAfter }
  }

  /** Revokes every certificate issued to a user so far; later ones are valid. */
  revoke(user: string): void {
    for (const fingerprint of this.#issued.get(user) ?? []) this.#revoked.add(fingerprint)
    this.#issued.delete(user)
  }

  isRevoked(fingerprint256: string): boolean {
    return this.#revoked.has(fingerprint256)
  }

  async #signer({ untrusted, intermediate }: CertificateOptions): Promise<Authority> {
    if (untrusted === true) {
      this.#untrusted ??= createAuthority('untrusted-ca')
      const untrustedCa = await this.#untrusted
      return intermediate === true
        ? untrustedCa.issueIntermediate('untrusted-intermediate')
        : untrustedCa
    }
    if (intermediate !== true) return this.#authority
    this.#intermediate ??= this.#authority.issueIntermediate('sandbox-intermediate')
    return this.#intermediate
  }

  #remember(user: string, certificate: string): void {
    const known = this.#issued.get(user) ?? new Set()
    known.add(new X509Certificate(certificate).fingerprint256)
    this.#issued.set(user, known)
  }
}
