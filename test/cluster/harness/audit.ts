import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** What the API server noted about one request. */
export interface AuditEvent {
  readonly auditID: string
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic'
  readonly requestURI: string
  readonly verb: string
  readonly user: AuditedUser
  readonly impersonatedUser?: AuditedUser
  readonly userAgent?: string
  readonly responseStatus?: { readonly code: number }
}

interface AuditedUser {
  readonly username?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The audit log of one API server. It grows by megabytes, so what was read is not read again. */
export class AuditLog {
  readonly #file: string
  readonly #lines: string[] = []
  #offset = 0

  constructor(file: string) {
    this.#file = file
  }

  /** The events whose address has this part, the oldest first. */
  about(part: string): AuditEvent[] {
    this.#read()
    // As Go writes it in JSON. To look before parsing saves most of the time.
    const written = part.replaceAll('&', '\\u0026')
    return this.#lines
      .filter((line) => line.includes(written))
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(({ requestURI }) => requestURI.includes(part))
  }

  #read(): void {
    const file = openSync(this.#file, 'r')
    try {
      const fresh = Buffer.alloc(fstatSync(file).size - this.#offset)
      readSync(file, fresh, 0, fresh.length, this.#offset)
      // The last line may be half written.
      const whole = fresh.subarray(0, fresh.lastIndexOf('\n') + 1)
      this.#offset += whole.length
      this.#lines.push(...whole.toString().split('\n').slice(0, -1))
    } finally {
      closeSync(file)
    }
  }
}

/** Which credential was used: the number of a token, or the digest of a certificate. */
export function credentialOf({ user }: AuditEvent): string | undefined {
  return user.extra?.['authentication.kubernetes.io/credential-id']?.[0]
}
