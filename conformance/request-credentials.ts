import type { IssuedCertificate, Sandbox, startSandbox } from '../packages/sandbox/src/index.ts'

/** The output of a plugin. Tokens and certificates are identified by name; the server refuses names that begin with `bad`. */
export interface Answer {
  readonly token?: string
  readonly certificate?: string
  readonly expiresInMs?: number
  /** Writes the time with nanoseconds, as Go does. */
  readonly nanoseconds?: boolean
  /** Printed unchanged instead of a credential. */
  readonly stdout?: string
  readonly exitCode?: number
  readonly withoutKind?: boolean
}

export type SandboxChoice = Parameters<typeof startSandbox>[0]

const DAY_MS = 86_400_000

/** The tokens and certificates of one case, issued on first use. */
export class Credentials {
  readonly #sandbox: Sandbox
  readonly #tokens = new Map<string, string>()
  readonly #certificates = new Map<string, Promise<IssuedCertificate>>()

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
  }

  token(name: string): string {
    const made = this.#tokens.get(name) ?? this.#makeToken(name)
    this.#tokens.set(name, made)
    return made
  }

  certificate(name: string): Promise<IssuedCertificate> {
    const made = this.#certificates.get(name) ?? this.#makeCertificate(name)
    this.#certificates.set(name, made)
    return made
  }

  /** Revokes everything with a name. */
  revoke(name: string): void {
    this.#sandbox.revoke(name)
    this.#sandbox.revokeCertificates(name)
  }

  /** Returns the output of a plugin. */
  async print(answer: Answer, apiVersion: string): Promise<string> {
    if (answer.stdout !== undefined) return answer.stdout
    const pair = answer.certificate && (await this.certificate(answer.certificate))
    return JSON.stringify({
      ...(!answer.withoutKind && { kind: 'ExecCredential' }),
      apiVersion,
      status: {
        ...(answer.token && { token: this.token(answer.token) }),
        ...(pair && { clientCertificateData: pair.certificate, clientKeyData: pair.key }),
        ...(answer.expiresInMs !== undefined && { expirationTimestamp: timestamp(answer) }),
      },
    })
  }

  #makeToken(name: string): string {
    return isBad(name) ? `unknown-${name}` : this.#sandbox.issueToken({ user: name }).token
  }

  #makeCertificate(name: string): Promise<IssuedCertificate> {
    // The case may have moved the clock, but TLS uses the real one.
    const realNow = performance.timeOrigin + performance.now()
    return this.#sandbox.issueCertificate({
      user: name,
      notBefore: new Date(realNow - DAY_MS),
      lifetimeMs: 30 * DAY_MS,
      untrusted: isBad(name),
    })
  }
}

function isBad(name: string): boolean {
  return name.startsWith('bad')
}

function timestamp({ expiresInMs = 0, nanoseconds }: Answer): string {
  const plain = new Date(Date.now() + expiresInMs).toISOString()
  return nanoseconds ? plain.replace('Z', '123456Z') : plain
}
