import { describe, expect, it } from 'vitest'
import { MessageJoiner } from '../../src/tls/handshake-messages.ts'
import { HandshakeTracker } from '../../src/tls/handshake-tracker.ts'
import { cipherSuite, expandLabel, recordKeys, verifyData } from '../../src/tls/key-schedule.ts'
import { RecordProtection, RecordSplitter } from '../../src/tls/records.ts'
import {
  certificateMessage,
  certificateVerifyMessage,
  finishedMessage,
  messageToSign,
} from '../../src/tls/sign-flight.ts'
import { CLIENT_AUTHENTICATION, MIDDLEBOX, RETRY, SIMPLE } from './rfc8448.ts'
import { hex, keylogLine, sealEmptyFlight } from './tracked-handshake.ts'

const TRACES = { SIMPLE, RETRY, CLIENT_AUTHENTICATION, MIDDLEBOX }
const suite = cipherSuite(0x1301) ?? expect.unreachable()

describe('the key schedule of RFC 8448', () => {
  it.each(Object.entries(TRACES))('derives the record keys of %s', (_, trace) => {
    const client = recordKeys(suite, hex(trace.clientSecret))
    const server = recordKeys(suite, hex(trace.serverSecret))
    expect(client.key.toString('hex')).toBe(trace.clientKey)
    expect(client.iv.toString('hex')).toBe(trace.clientIv)
    expect(server.key.toString('hex')).toBe(trace.serverKey)
    expect(server.iv.toString('hex')).toBe(trace.serverIv)
  })

  it('derives the finished_key', () => {
    const key = expandLabel(suite, hex(SIMPLE.clientSecret), 'finished', 32)
    expect(key.toString('hex')).toBe(
      'b80ad01015fb2f0bd65ff7d4da5d6bf83f84821d1f87fdc7d3c75b5a7b42d9c4',
    )
  })

  it('derives at most one block of the hash', () => {
    expect(() => expandLabel(suite, hex(SIMPLE.clientSecret), 'key', 33)).toThrow(RangeError)
  })
})

describe('the record layer', () => {
  it.each(Object.entries(TRACES))('decrypts the flights of %s', (_, trace) => {
    const server = openAll(trace.serverFlight, trace.serverSecret)
    expect(server.at(-1)?.toString('hex')).toBe(trace.serverFinished)
    const client = openAll(trace.clientFlight, trace.clientSecret)
    expect(client.at(-1)?.toString('hex')).toBe(trace.clientFinished)
  })
})

describe('the handshake tracker', () => {
  it.each([
    ['SIMPLE', SIMPLE],
    ['MIDDLEBOX', MIDDLEBOX],
    ['RETRY', RETRY],
  ] as const)('reconstructs the transcript of %s', (_, trace) => {
    const tracker = track(trace)
    expect(tracker.fromClient(hex(trace.clientFlight))).toEqual(
      trace === MIDDLEBOX ? [hex('140303000101')] : [],
    )
    const { transcript, request } = tracker.conclude()
    expect(request).toBeUndefined()
    const computed = verifyData(suite, hex(trace.clientSecret), transcript.digest())
    expect(computed.toString('hex')).toBe(trace.clientFinished.slice(8))
  })

  it('rejects a client that sends its own certificate', () => {
    const tracker = track(CLIENT_AUTHENTICATION)
    tracker.fromClient(hex(CLIENT_AUTHENTICATION.clientFlight))
    expect(() => tracker.conclude()).toThrow('has unexpected messages')
  })

  it('reproduces the client flight of CLIENT_AUTHENTICATION byte for byte', () => {
    const trace = CLIENT_AUTHENTICATION
    const tracker = track(trace)
    tracker.fromClient(sealEmptyFlight(trace))
    const handshake = tracker.conclude()
    expect(handshake.request?.schemes.slice(0, 5)).toEqual([0x0403, 0x0503, 0x0603, 0x0203, 0x0804])
    const [shown, signed] = openAll(trace.clientFlight, trace.clientSecret)
    const certificate = certificateMessage([certificateOf(shown)])
    const message = messageToSign(handshake.transcript.add(certificate).digest())
    expect(message.toString('hex')).toBe(trace.messageToSign)
    const verify = certificateVerifyMessage('rsa_pss_rsae_sha256', signatureOf(signed))
    const finished = finishedMessage(handshake, handshake.transcript.add(verify))
    const flight = Buffer.concat([certificate, verify, finished])
    const sealed = tracker.clientProtection().seal(22, flight)
    expect(sealed.toString('hex')).toBe(trace.clientFlight)
  })
})

type Trace = (typeof TRACES)[keyof typeof TRACES]

function track(trace: Trace): HandshakeTracker {
  const tracker = new HandshakeTracker()
  tracker.fromClient(hex(trace.clientHello))
  if ('helloRetryRequest' in trace) {
    tracker.fromServer(hex(trace.helloRetryRequest))
    tracker.fromClient(hex(trace.clientHello2))
  }
  tracker.fromServer(hex(trace.serverHello))
  tracker.fromServer(hex(trace.serverFlight))
  tracker.addKeylogLine(keylogLine('SERVER', trace))
  tracker.addKeylogLine(keylogLine('CLIENT', trace))
  return tracker
}

function openAll(records: string, secret: string): Buffer[] {
  const protection = new RecordProtection(suite, hex(secret))
  const joiner = new MessageJoiner()
  return new RecordSplitter()
    .push(hex(records))
    .filter(({ type }) => type === 23)
    .flatMap((record) => joiner.push(protection.open(record).content))
    .map(({ bytes }) => bytes)
}

/** The one certificate in a Certificate. */
function certificateOf(message: Buffer | undefined): Buffer {
  return (message ?? expect.unreachable()).subarray(4 + 1 + 3 + 3, -2)
}

function signatureOf(message: Buffer | undefined): Buffer {
  return (message ?? expect.unreachable()).subarray(4 + 2 + 2)
}
