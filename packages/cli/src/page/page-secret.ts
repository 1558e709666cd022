import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { UsageError } from '../usage-error.ts'

/** Long enough not to be guessed, and valid in a URL fragment without encoding. */
const SECRET_PATTERN = /^[A-Za-z0-9._~-]{20,200}$/

/** The secret that clients of the page must send. */
export class PageSecret {
  #digest: Buffer
  /** Returns the secret, for the printed URL. */
  readonly expose: () => string

  /** @throws {UsageError} If the given secret is too short or not valid in a URL. */
  constructor(given?: string) {
    const secret = given ?? randomBytes(32).toString('base64url')
    this.#digest = digestOf(check(secret))
    this.expose = () => secret
  }

  /**
   * From now on, only another secret is accepted.
   *
   * @throws {UsageError} If it is too short or not valid in a URL.
   */
  replace(given: string): void {
    this.#digest = digestOf(check(given))
  }

  /** Returns, in constant time, whether an `Authorization` header has the secret. */
  isIn(authorization: string | undefined): boolean {
    const offered = /^Bearer +(.+)$/i.exec(authorization ?? '')?.[1] ?? ''
    return timingSafeEqual(digestOf(offered), this.#digest)
  }
}

function check(secret: string): string {
  if (SECRET_PATTERN.test(secret)) return secret
  throw new UsageError('the secret of the page must be 20 to 200 letters, digits or any of "-._~"')
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
