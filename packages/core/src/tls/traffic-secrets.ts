import { HandshakeError } from './alert.ts'
import { ALERT } from './constants.ts'

/** Which side of the connection sends. */
export type Side = 'client' | 'server'

const LABELS: Readonly<Record<string, Side>> = {
  CLIENT_HANDSHAKE_TRAFFIC_SECRET: 'client',
  SERVER_HANDSHAKE_TRAFFIC_SECRET: 'server',
}
const RANDOM_LENGTH = 32
const SPACE = 0x20

interface KeylogEntry {
  readonly clientRandom: Buffer
  readonly secret: Buffer
}

/**
 * The handshake traffic secrets of a connection, from the lines of its `keylog` event.
 *
 * The lines have the SSLKEYLOGFILE format: a label, the client random and a secret, the last two in hexadecimal.
 * Secrets are never converted to a string, because a string cannot be overwritten.
 */
export class TrafficSecrets {
  readonly #entries = new Map<Side, KeylogEntry>()
  #isMalformed = false

  addKeylogLine(line: Buffer): void {
    const side = LABELS[line.subarray(0, Math.max(line.indexOf(SPACE), 0)).toString('latin1')]
    if (side !== undefined) {
      const entry = readLine(line)
      if (entry === undefined || this.#entries.has(side)) this.#isMalformed = true
      else this.#entries.set(side, entry)
    }
  }

  /**
   * Returns the secret of one side.
   *
   * @throws {HandshakeError} Node did not report it, or reported one of another connection.
   */
  secret(side: Side, clientRandom: Buffer, length: number): Buffer {
    const entry = this.#entries.get(side)
    if (entry === undefined || this.#isMalformed) {
      throw new HandshakeError(
        ALERT.internalError,
        'Node did not report the secrets of the handshake',
      )
    }
    if (!entry.clientRandom.equals(clientRandom) || entry.secret.length !== length) {
      throw new HandshakeError(ALERT.internalError, 'Node reported secrets of another handshake')
    }
    return entry.secret
  }

  /** Overwrites the secrets. */
  wipe(): void {
    for (const { secret } of this.#entries.values()) secret.fill(0)
    this.#entries.clear()
  }
}

function readLine(line: Buffer): KeylogEntry | undefined {
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
