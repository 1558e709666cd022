import { HandshakeProblem } from './alert.ts'
import { ALERT } from './constants.ts'

export type Side = 'client' | 'server'

const LABELS: Readonly<Record<string, Side>> = {
  CLIENT_HANDSHAKE_TRAFFIC_SECRET: 'client',
  SERVER_HANDSHAKE_TRAFFIC_SECRET: 'server',
}
const RANDOM_LENGTH = 32
const SPACE = 0x20

interface Logged {
  readonly clientRandom: Buffer
  readonly secret: Buffer
}

/**
 * The handshake secrets of a connection, from the lines of its `keylog` event.
 *
 * A line is a label, the client's random and a secret, the last two in hexadecimal. Secrets are never made
 * into a string, because a string cannot be wiped.
 */
export class KeylogSecrets {
  readonly #logged = new Map<Side, Logged>()
  #isOdd = false

  take(line: Buffer): void {
    const side = LABELS[line.subarray(0, Math.max(line.indexOf(SPACE), 0)).toString('latin1')]
    if (side !== undefined) {
      const logged = readLine(line)
      if (logged === undefined || this.#logged.has(side)) this.#isOdd = true
      else this.#logged.set(side, logged)
    }
  }

  /** @throws {HandshakeProblem} It was not told, or is another connection's. */
  secret(side: Side, clientRandom: Buffer, length: number): Buffer {
    const logged = this.#logged.get(side)
    if (logged === undefined || this.#isOdd) {
      throw new HandshakeProblem(
        ALERT.internalError,
        'Node did not tell the secrets of the handshake',
      )
    }
    if (!logged.clientRandom.equals(clientRandom) || logged.secret.length !== length) {
      throw new HandshakeProblem(ALERT.internalError, 'Node told secrets of another handshake')
    }
    return logged.secret
  }

  wipe(): void {
    for (const { secret } of this.#logged.values()) secret.fill(0)
    this.#logged.clear()
  }
}

function readLine(line: Buffer): Logged | undefined {
  const start = line.indexOf(SPACE) + 1
  const middle = line.indexOf(SPACE, start)
  if (middle < 0) return undefined
  const clientRandom = decodeHex(line.subarray(start, middle))
  const secret = decodeHex(line.subarray(middle + 1, endOfText(line)))
  if (clientRandom?.length !== RANDOM_LENGTH || secret === undefined) return undefined
  return { clientRandom, secret }
}

/** Some versions of Node end a line with a line feed. */
function endOfText(line: Buffer): number {
  const lineFeed = line.indexOf(0x0a)
  return lineFeed < 0 ? line.length : lineFeed
}

function decodeHex(text: Buffer): Buffer | undefined {
  if (text.length % 2 !== 0) return undefined
  const bytes = Buffer.alloc(text.length / 2)
  for (let at = 0; at < text.length; at += 1) {
    const digit = hexDigit(text.readUInt8(at))
    if (digit === undefined) return undefined
    bytes[at >> 1] = ((bytes[at >> 1] ?? 0) << 4) | digit
  }
  return bytes
}

function hexDigit(character: number): number | undefined {
  if (character >= 0x30 && character <= 0x39) return character - 0x30
  const lower = character | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : undefined
}
