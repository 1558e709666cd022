import { HandshakeProblem } from '../../src/tls/alert.ts'
import { handshakeMessage, uint16, vector16 } from '../../src/tls/bytes.ts'
import { MessageJoiner } from '../../src/tls/handshake-messages.ts'
import { type FollowedHandshake, HandshakeFollower } from '../../src/tls/handshake-tracker.ts'
import { cipherSuite, Transcript, verifyData } from '../../src/tls/key-schedule.ts'
import { RecordProtection, RecordSplitter } from '../../src/tls/records.ts'

/** What of a trace is needed to play it. */
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

/** The messages of a server's encrypted flight. */
export function openServerFlight({ serverFlight, serverSecret }: Trace): Buffer[] {
  const protection = new RecordProtection(suite, hex(serverSecret))
  const joiner = new MessageJoiner()
  return new RecordSplitter()
    .push(hex(serverFlight))
    .flatMap((record) => joiner.push(protection.open(record).content))
    .map(({ bytes }) => bytes)
}

/** The same messages, or others, as the server would send them. */
export function sealServerFlight(trace: Trace, messages: readonly Buffer[], type = 22): Buffer {
  const protection = new RecordProtection(suite, hex(trace.serverSecret))
  return protection.seal(type, Buffer.concat(messages))
}

/** What OpenSSL says at the end of a handshake with these messages of the server. */
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

/** What both sides say, and what Node tells; every part can be another. */
export interface Played {
  readonly server: readonly Buffer[]
  readonly client: readonly Buffer[]
  readonly keylog: readonly Buffer[]
}

/** A handshake that can be taken over, made of a trace; with other messages of the server if given. */
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

/** Plays a handshake to a follower, up to its conclusion. */
export function play({ server, client, keylog }: Played): FollowedHandshake {
  const follower = new HandshakeFollower()
  const [hello = Buffer.alloc(0), ...rest] = client
  follower.fromClient(hello)
  for (const bytes of server) follower.fromServer(bytes)
  for (const line of keylog) follower.takeKeylog(Buffer.from(line))
  for (const bytes of rest) follower.fromClient(bytes)
  if (follower.state !== 'flight') throw new HandshakeProblem(10, `the state is ${follower.state}`)
  return follower.conclude()
}

/** A record in the clear. */
export function record(type: number, ...content: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.of(type, 3, 3), vector16(...content)])
}

/** An extension of a message. */
export function extension(type: number, ...content: readonly Buffer[]): Buffer {
  return Buffer.concat([uint16(type), vector16(...content)])
}
