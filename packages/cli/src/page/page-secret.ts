import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { UsageError } from '../usage-error.ts'

/** What may stand in the fragment of an address as it is, and is too long to guess. */
const GOOD_SECRET = /^[A-Za-z0-9._~-]{20,200}$/

/** What a reader of the page must know. */
export class PageSecret {
  readonly #digest: Buffer
  /** The secret itself, for the address that is printed. */
  readonly expose: () => string

  /** @throws {UsageError} When the one that is given is too short, or cannot stand in an address. */
  constructor(given?: string) {
    if (given !== undefined && !GOOD_SECRET.test(given)) {
      throw new UsageError(
        'the secret of the page must be 20 to 200 letters, digits or any of "-._~"',
      )
    }
    const secret = given ?? randomBytes(32).toString('base64url')
    this.#digest = digestOf(secret)
    this.expose = () => secret
  }

  /** Whether the header `Authorization` carries it. Takes the same time however much of it is right. */
  isIn(authorization: string | undefined): boolean {
    const offered = /^Bearer +(.+)$/i.exec(authorization ?? '')?.[1] ?? ''
    return timingSafeEqual(digestOf(offered), this.#digest)
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
