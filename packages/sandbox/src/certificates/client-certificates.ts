import { X509Certificate } from 'node:crypto'
import { type Authority, createAuthority } from './authority.ts'
import type { DistinguishedName } from './x509-module.ts'

/** Whom a client certificate is for, and what may be wrong with it on purpose. */
export interface CertificateOptions {
  /** The common name, which Kubernetes takes as the user name. */
  readonly user: string
  /** The organisations, which Kubernetes takes as groups. */
  readonly groups?: readonly string[] | undefined
  /** Counted from `notBefore` if given, else from now; one hour unless told; may be negative. */
  readonly lifetimeMs?: number | undefined
  readonly notBefore?: Date | undefined
  /** Signs with an intermediate authority, whose certificate follows the leaf. */
  readonly intermediate?: boolean | undefined
  /** Signs with an authority that the server does not know. */
  readonly untrusted?: boolean | undefined
  /** PEM of a key that is elsewhere, in a token for example: then the certificate comes without one. */
  readonly publicKey?: string | undefined
}

/** A client certificate: PEM, leaf first, and the PKCS#8 key that belongs to it. */
export interface IssuedCertificate {
  readonly certificate: string
  /** Empty when it was issued for a key that is elsewhere. */
  readonly key: string
  readonly notAfter: Date
}

const HOUR_MS = 3_600_000
const BACKDATE_MS = 60_000

/** Issues client certificates and remembers which ones were taken back. */
export class ClientCertificates {
  readonly #authority: Authority
  readonly #now: () => number
  readonly #issued = new Map<string, Set<string>>()
  readonly #revoked = new Set<string>()
  #intermediate: Promise<Authority> | undefined
  #stranger: Promise<Authority> | undefined

  constructor(authority: Authority, now: () => number) {
    this.#authority = authority
    this.#now = now
  }

  async issue(options: CertificateOptions): Promise<IssuedCertificate> {
    const { user, groups = [], lifetimeMs = HOUR_MS } = options
    const start = options.notBefore?.getTime() ?? this.#now()
    // X.509 counts whole seconds; rounding up keeps a short life from being over at once.
    const notAfter = new Date(Math.ceil((start + lifetimeMs) / 1000) * 1000)
    // TLS looks at the system's clock, which may be behind the sandbox's own.
    const earliest = Math.min(start, start + lifetimeMs, Date.now())
    const notBefore = options.notBefore ?? new Date(earliest - BACKDATE_MS)
    const subject: DistinguishedName = [
      { CN: [user] },
      ...(groups.length === 0 ? [] : [{ O: groups }]),
    ]
    const signer = await this.#signer(options)
    const { publicKey } = options
    const made = await signer.issue({ subject, notBefore, notAfter, usage: 'client', publicKey })
    this.#remember(user, made.certificate)
    const chain = options.intermediate === true ? signer.certificate : ''
    return { certificate: made.certificate + chain, key: made.key, notAfter }
  }

  /** Refuses every certificate issued to this user so far; later ones are good again. */
  revoke(user: string): void {
    for (const fingerprint of this.#issued.get(user) ?? []) this.#revoked.add(fingerprint)
    this.#issued.delete(user)
  }

  isRevoked(fingerprint256: string): boolean {
    return this.#revoked.has(fingerprint256)
  }

  async #signer({ untrusted, intermediate }: CertificateOptions): Promise<Authority> {
    if (untrusted === true) {
      this.#stranger ??= createAuthority('somebody-else')
      const stranger = await this.#stranger
      return intermediate === true ? stranger.issueIntermediate('somebody-else-below') : stranger
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
