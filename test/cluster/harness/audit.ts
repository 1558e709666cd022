import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** An event of the audit log. */
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

/** The audit log of an API server. It is large, so only new lines are read. */
export class AuditLog {
  readonly #file: string
  readonly #lines: string[] = []
  #offset = 0

  constructor(file: string) {
    this.#file = file
  }

  /** Returns the events whose URL contains a string, oldest first. */
  about(part: string): AuditEvent[] {
    this.#read()
    // Escaped as by Go's JSON. Searching before parsing saves most of the time.
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
      // The last line may be incomplete.
      const whole = fresh.subarray(0, fresh.lastIndexOf('\n') + 1)
      this.#offset += whole.length
      this.#lines.push(...whole.toString().split('\n').slice(0, -1))
    } finally {
      closeSync(file)
    }
  }
}

/** Returns the credential id of an event: the id of a token, or the digest of a certificate. */
export function credentialOf({ user }: AuditEvent): string | undefined {
  return user.extra?.['authentication.kubernetes.io/credential-id']?.[0]
}
