import { HandshakeError } from '../../src/tls/alert.ts'
import { handshakeMessage, uint16, vector16 } from '../../src/tls/bytes.ts'
import { MessageJoiner } from '../../src/tls/handshake-messages.ts'
import { HandshakeTracker, type TrackedHandshake } from '../../src/tls/handshake-tracker.ts'
import { cipherSuite, Transcript, verifyData } from '../../src/tls/key-schedule.ts'
import { RecordProtection, RecordSplitter } from '../../src/tls/records.ts'

/** The parts of an RFC 8448 trace that are needed to replay it. */
export interface Trace {
  readonly clientHello: string
  readonly serverHello: string
  readonly serverFlight: string
  readonly clientSecret: string
  readonly serverSecret: string
}

export const EMPTY_CERTIFICATE = handshakeMessage(11, Buffer.of(0, 0, 0, 0))
const suite = cipherSuite(0x1301) as NonNullable<ReturnType<typeof cipherSuite>>

export function hex(text: string): Buffer {
  return Buffer.from(text, 'hex')
}

/** A line of Node's `keylog` event. */
export function keylogLine(
  side: 'CLIENT' | 'SERVER',
  { clientHello, clientSecret, serverSecret }: Trace,
): Buffer {
  const random = clientHello.slice(2 * (5 + 4 + 2), 2 * (5 + 4 + 2 + 32))
  const secret = side === 'CLIENT' ? clientSecret : serverSecret
  return Buffer.from(`${side}_HANDSHAKE_TRAFFIC_SECRET ${random} ${secret}\n`)
}

/** Decrypts the messages of a server's flight. */
export function openServerFlight({ serverFlight, serverSecret }: Trace): Buffer[] {
  const protection = new RecordProtection(suite, hex(serverSecret))
  const joiner = new MessageJoiner()
  return new RecordSplitter()
    .push(hex(serverFlight))
    .flatMap((record) => joiner.push(protection.open(record).content))
    .map(({ bytes }) => bytes)
}

/** Encrypts messages as the server would. */
export function sealServerFlight(trace: Trace, messages: readonly Buffer[], type = 22): Buffer {
  const protection = new RecordProtection(suite, hex(trace.serverSecret))
  return protection.seal(type, Buffer.concat(messages))
}

/** Builds the last flight that OpenSSL sends after these messages of the server. */
export function sealEmptyFlight(
  trace: Trace,
  messages: readonly Buffer[] = openServerFlight(trace),
  before: readonly Buffer[] = [EMPTY_CERTIFICATE],
): Buffer {
  const transcript = new Transcript(suite)
  for (const record of [trace.clientHello, trace.serverHello]) {
    transcript.add(hex(record).subarray(5))
  }
  for (const message of [...messages, ...before]) transcript.add(message)
  const secret = hex(trace.clientSecret)
  const finished = handshakeMessage(20, verifyData(suite, secret, transcript.digest()))
  return new RecordProtection(suite, secret).seal(22, Buffer.concat([...before, finished]))
}

/** The bytes of both sides and the keylog lines of a handshake; tests replace single parts. */
export interface Played {
  readonly server: readonly Buffer[]
  readonly client: readonly Buffer[]
  readonly keylog: readonly Buffer[]
}

/** Makes a valid handshake from a trace, optionally with other messages of the server. */
export function playable(
  trace: Trace,
  messages: readonly Buffer[] = openServerFlight(trace),
): Played {
  return {
    server: [hex(trace.serverHello), sealServerFlight(trace, messages)],
    client: [hex(trace.clientHello), sealEmptyFlight(trace, messages)],
    keylog: [keylogLine('SERVER', trace), keylogLine('CLIENT', trace)],
  }
}

/** Replays a handshake to a tracker and returns what it concludes. */
export function play({ server, client, keylog }: Played): TrackedHandshake {
  const tracker = new HandshakeTracker()
  const [hello = Buffer.alloc(0), ...rest] = client
  tracker.fromClient(hello)
  for (const bytes of server) tracker.fromServer(bytes)
  for (const line of keylog) tracker.addKeylogLine(Buffer.from(line))
  for (const bytes of rest) tracker.fromClient(bytes)
  if (tracker.state !== 'flightComplete')
    throw new HandshakeError(10, `the state is ${tracker.state}`)
  return tracker.conclude()
}

/** An unencrypted record. */
export function record(type: number, ...content: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.of(type, 3, 3), vector16(...content)])
}

/** Encodes an extension. */
export function extension(type: number, ...content: readonly Buffer[]): Buffer {
  return Buffer.concat([uint16(type), vector16(...content)])
}
