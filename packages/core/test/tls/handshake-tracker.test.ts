import { createCipheriv } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { HandshakeProblem } from '../../src/tls/alert.ts'
import { handshakeMessage, uint16, vector8, vector16 } from '../../src/tls/bytes.ts'
import { cipherSuite, recordKeys } from '../../src/tls/key-schedule.ts'
import { RecordProtection } from '../../src/tls/records.ts'
import { CLIENT_AUTHENTICATION, RETRY, SIMPLE } from './rfc8448.ts'
import {
  EMPTY_CERTIFICATE,
  extension,
  hex,
  keylogLine,
  openServerFlight,
  type Played,
  play,
  playable,
  record,
  sealEmptyFlight,
  sealServerFlight,
  type Trace,
} from './tracked-handshake.ts'

const TRACE: Trace = CLIENT_AUTHENTICATION
const GOOD = playable(TRACE)
const [ENCRYPTED_EXTENSIONS, REQUEST, CERTIFICATE, VERIFY, FINISHED] = openServerFlight(TRACE) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
  Buffer,
]
const CHANGE = hex('140303000101')
const ALERT = hex('15030300020228')
const schemes = extension(13, vector16(uint16(0x0804)))

it('follows the handshake that all of these are made of', () => {
  expect(play(GOOD).request?.schemes).toContain(0x0804)
})

it('follows it however many records there are', () => {
  const flight = [ENCRYPTED_EXTENSIONS, REQUEST, CERTIFICATE, VERIFY, FINISHED]
  const bytes = Buffer.concat(flight)
  const protection = protectServer()
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
    protection.seal(22, bytes.subarray(7 * at, 7 * at + 7)),
  )
  const server = [hex(TRACE.serverHello), CHANGE, CHANGE, ...pieces, Buffer.of(23, 3, 3)]
  expect(play({ ...GOOD, server }).request?.schemes).toContain(0x0804)
})

describe('the secrets', () => {
  const cases: [string, readonly Buffer[], string][] = [
    ['were not told', [], 'did not tell'],
    ['were told for one side', GOOD.keylog.slice(1), 'did not tell'],
    ['were told twice', [...GOOD.keylog, ...GOOD.keylog], 'did not tell'],
    ['are of another connection', lines({ clientHello: SIMPLE.clientHello }), 'another handshake'],
    ['are too short', lines({ clientSecret: TRACE.clientSecret.slice(2) }), 'another handshake'],
    ['are not in hexadecimal', lines({ clientSecret: `${'0'.repeat(63)}g` }), 'did not tell'],
    ['have an odd number of digits', lines({ clientSecret: '0'.repeat(63) }), 'did not tell'],
    ['are wrong', lines({ clientSecret: TRACE.serverSecret }), 'cannot be decrypted'],
    ['end in the middle', [Buffer.from('CLIENT_HANDSHAKE_TRAFFIC_SECRET x')], 'did not tell'],
    ['have no label', [Buffer.from('x')], 'did not tell'],
  ]
  it.each(cases)('%s', (_, keylog, says) => {
    refuses({ ...GOOD, keylog }, says)
  })
})

describe('what a server says in the clear', () => {
  const hello = hex(TRACE.serverHello)
  const retry = hex(RETRY.helloRetryRequest)
  const otherSuite = Buffer.from(retry)
  otherSuite.writeUInt16BE(0x1303, 5 + 4 + 2 + 32 + 1)
  const cases: [string, Buffer[], string][] = [
    ['is nothing', [], 'no ServerHello'],
    ['is an alert', [ALERT], 'no ServerHello'],
    ['is no TLS', [Buffer.from('HTTP/1.1 400 Bad Request\r\n')], 'no TLS record'],
    ['is SSL 2', [hex('8003020000')], 'no TLS record'],
    ['is a record that is too long', [hex('1603034001')], 'too long'],
    ['is a message that is too long', [hex('160303000402100000')], 'too long'],
    ['is an empty record', [hex('1603030000'), hello], 'empty handshake record'],
    ['is something else than a hello', [record(22, REQUEST)], 'no ServerHello'],
    ['has an appendix', [record(22, hello.subarray(5), Buffer.of(8))], 'appendix'],
    ['is two hellos at once', [record(22, hello.subarray(5), hello.subarray(5))], 'appendix'],
    ['asks twice to begin again', [retry, retry, hello], 'twice'],
    ['changes its cipher suite', [otherSuite, hello], 'changed its cipher suite'],
    ['asks to begin again, but OpenSSL did not', [retry, hello], 'number of ClientHellos'],
    ['is a change of cipher spec with more in it', [hex('14030300020101'), hello], 'odd change'],
    ['is a change of cipher spec with less in it', [hex('1403030000'), hello], 'odd change'],
    ['is interrupted', [part(hello, 0, 9), CHANGE, part(hello, 9)], 'interrupted'],
    ['is interrupted by an alert', [part(hello, 0, 9), ALERT, part(hello, 9)], 'no ServerHello'],
    ['is not TLS 1.3', [changed(hello, '002b00020304', '002b00020303')], 'TLS 1.3'],
    ['does not say its version', [changed(hello, '002b00020304', '002c00020304')], 'TLS 1.3'],
    ['has an unknown suite', [changed(hello, '00130100', '00130400')], 'not known here'],
    ['has a compression', [changed(hello, '00130100', '00130101')], 'compression'],
    ['resumes a session', [changed(hello, '00330024', '00290024')], 'resumed'],
    ['has an extension twice', [changed(hello, '00330024', '002b0024')], 'twice'],
    ['ends too early', [changed(hello, '002e0033', '002f0033')], 'too early'],
    ['goes on too long', [changed(hello, '002e0033', '00280033')], 'after its end'],
  ]
  it.each(cases)('%s', (_, server, says) => {
    refuses({ ...GOOD, server: [...server, ...GOOD.server.slice(1)] }, says)
  })
})

describe('what a server says encrypted', () => {
  const flights: [string, Buffer[], string][] = [
    ['has no Finished', [ENCRYPTED_EXTENSIONS, REQUEST, CERTIFICATE, VERIFY], 'no Finished'],
    ['has no CertificateVerify', [ENCRYPTED_EXTENSIONS, REQUEST, CERTIFICATE, FINISHED], 'turn'],
    ['has no certificate', [ENCRYPTED_EXTENSIONS, FINISHED], 'the message 20 out of its turn'],
    ['has no EncryptedExtensions', [REQUEST, CERTIFICATE, VERIFY, FINISHED], 'turn'],
    ['asks twice', [ENCRYPTED_EXTENSIONS, REQUEST, REQUEST, CERTIFICATE], 'turn'],
    ['asks too late', [ENCRYPTED_EXTENSIONS, CERTIFICATE, REQUEST, VERIFY, FINISHED], 'turn'],
    ['updates its key', [ENCRYPTED_EXTENSIONS, hex('1800000101'), CERTIFICATE], 'message 24 out'],
    ['goes on', [ENCRYPTED_EXTENSIONS, REQUEST, CERTIFICATE, VERIFY, FINISHED, REQUEST], 'turn'],
    [
      'goes on with a part',
      [ENCRYPTED_EXTENSIONS, CERTIFICATE, VERIFY, FINISHED, Buffer.of(4)],
      'appendix',
    ],
  ]
  it.each(flights)('%s', (_, messages, says) => {
    refuses(playable(TRACE, messages), says)
  })

  const [hello, flight] = GOOD.server as [Buffer, Buffer]
  const damaged = Buffer.from(flight)
  damaged[20] = (damaged[20] ?? 0) ^ 1
  const seal = (type: number, ...messages: Buffer[]) => sealServerFlight(TRACE, messages, type)
  const records: [string, Buffer[], string][] = [
    ['was damaged', [damaged], 'cannot be decrypted'],
    ['is in another order', [seal(22, ENCRYPTED_EXTENSIONS), flight], 'cannot be decrypted'],
    ['is not encrypted', [record(22, ENCRYPTED_EXTENSIONS)], 'stopped to encrypt'],
    ['is an alert', [seal(21, hex('0228'))], 'interrupted its handshake'],
    ['is data', [seal(23, hex('0228'))], 'interrupted its handshake'],
    ['is too short', [hex('1703030010'), Buffer.alloc(16)], 'too short'],
    ['is only padding', [seal(0, Buffer.alloc(9))], 'only padding'],
    ['is an empty message record', [sealEmpty()], 'empty handshake record'],
    ['holds too much', [sealTooMuch()], 'holds too much'],
    ['is longer than a record may be', [hex('1703034101')], 'too long'],
    ['is interrupted', [...interrupted()], 'interrupted by another'],
  ]
  it.each(records)('%s', (_, server, says) => {
    refuses({ ...GOOD, server: [hello, ...server] }, says)
  })

  it('is longer than we record', () => {
    refuses({ ...GOOD, server: [...GOOD.server, Buffer.alloc(2 ** 18)] }, 'longer than 262144')
  })
})

describe('a request for a certificate', () => {
  const cases: [string, Buffer, string][] = [
    ['has a context', request([schemes], Buffer.of(1)), 'context'],
    ['names no schemes', request([extension(47, vector16())]), 'names no signature schemes'],
    ['has an empty list of schemes', request([extension(13, vector16())]), 'empty list'],
    ['has half a scheme', request([extension(13, vector16(Buffer.of(8)))]), 'too early'],
    ['has schemes and more', request([extension(13, vector16(uint16(1)), uint16(1))]), 'after'],
    ['has schemes twice', request([schemes, schemes]), 'twice'],
    ['has a list that is too long', handshakeMessage(13, hex('000009000d000400020804')), 'early'],
    ['goes on', handshakeMessage(13, vector8(), vector16(schemes), hex('00')), 'after its end'],
    ['is empty', handshakeMessage(13), 'too early'],
  ]
  it.each(cases)('%s', (_, message, says) => {
    refuses(playable(TRACE, [ENCRYPTED_EXTENSIONS, message, CERTIFICATE, VERIFY, FINISHED]), says)
  })
})

describe('the last flight of OpenSSL', () => {
  const all = openServerFlight(TRACE)
  const withoutRequest = [ENCRYPTED_EXTENSIONS, CERTIFICATE, VERIFY, FINISHED]
  const shown = handshakeMessage(11, hex('00000006000001ff0000'))
  const wrong = handshakeMessage(20, Buffer.alloc(32))
  const flights: [string, Buffer, string][] = [
    ['has no Certificate', sealEmptyFlight(TRACE, all, []), 'other messages'],
    ['has two', sealEmptyFlight(TRACE, all, [EMPTY_CERTIFICATE, EMPTY_CERTIFICATE]), 'other'],
    ['has a certificate in it', sealEmptyFlight(TRACE, all, [shown]), 'of its own'],
    ['has another transcript', sealEmptyFlight(TRACE, withoutRequest), 'another than that'],
    ['has a wrong Finished', sealClient(22, EMPTY_CERTIFICATE, wrong), 'another than that'],
    ['has a short Finished', sealClient(22, EMPTY_CERTIFICATE, hex('1400000101')), 'another than'],
    ['goes on', sealClient(22, EMPTY_CERTIFICATE, wrong, Buffer.of(1)), 'appendix'],
    ['is data', sealClient(23, EMPTY_CERTIFICATE), 'interrupted its last flight'],
    ['is too long', sealClient(22, handshakeMessage(11, Buffer.alloc(5000))), 'too long'],
    ['is in the clear', record(22, EMPTY_CERTIFICATE), 'something else than a ClientHello'],
    ['was damaged', sealClient(22, EMPTY_CERTIFICATE).fill(1, 10, 11), 'cannot be decrypted'],
    ['is a third hello', Buffer.concat(Array(2).fill(hex(TRACE.clientHello))), 'something else'],
  ]
  it.each(flights)('%s', (_, flight, says) => {
    refuses({ ...GOOD, client: [hex(TRACE.clientHello), flight] }, says)
  })

  it('has a certificate that nobody asked for', () => {
    refuses(playable(TRACE, withoutRequest), 'other messages')
  })

  it('goes on without end', () => {
    const client = [...GOOD.client, Buffer.alloc(2 ** 20 + 1)]
    refuses({ ...GOOD, client }, 'went on without an answer')
  })

  it('is interrupted by a record in the clear', () => {
    const client = [hex(TRACE.clientHello), sealClient(22, EMPTY_CERTIFICATE), CHANGE]
    refuses({ ...GOOD, client }, 'interrupted its own message')
  })

  it('is an alert: OpenSSL gives up, and everything it says goes to the server', () => {
    for (const alert of [ALERT, sealClient(21, hex('0228'))]) {
      const client = [hex(TRACE.clientHello), alert, Buffer.of(1, 2)]
      refuses({ ...GOOD, client }, 'the state is gaveUp')
    }
  })
})

function refuses(played: Played, says: string): void {
  let problem: unknown
  try {
    play(played)
  } catch (error) {
    problem = error
  }
  expect(problem).toBeInstanceOf(HandshakeProblem)
  expect(problem).toMatchObject({ message: expect.stringContaining(says) })
}

function lines(other: Partial<Trace>): Buffer[] {
  const trace = { ...TRACE, ...other }
  return [keylogLine('SERVER', TRACE), keylogLine('CLIENT', trace)]
}

/** A part of a record's content, in a record of its own. */
function part(bytes: Buffer, start: number, end?: number): Buffer {
  return record(22, bytes.subarray(5).subarray(start, end))
}

function changed(bytes: Buffer, from: string, to: string): Buffer {
  const text = bytes.toString('hex')
  expect(text.split(from)).toHaveLength(2)
  return hex(text.replace(from, to))
}

function request(extensions: readonly Buffer[], context = Buffer.alloc(0)): Buffer {
  return handshakeMessage(13, vector8(context), vector16(...extensions))
}

function protectServer(): RecordProtection {
  return new RecordProtection(cipherSuite(0x1301) ?? expect.unreachable(), hex(TRACE.serverSecret))
}

function sealClient(type: number, ...messages: readonly Buffer[]): Buffer {
  const suite = cipherSuite(0x1301) ?? expect.unreachable()
  return new RecordProtection(suite, hex(TRACE.clientSecret)).seal(type, Buffer.concat(messages))
}

/** A record whose only byte is its type: the seal makes none, so its content is the type and the type is padding. */
function sealEmpty(): Buffer {
  return protectServer().seal(0, Buffer.of(22))
}

/** One byte more than a record may hold, which its length does not show. */
function sealTooMuch(): Buffer {
  const { key, iv } = recordKeys(
    cipherSuite(0x1301) ?? expect.unreachable(),
    hex(TRACE.serverSecret),
  )
  const content = Buffer.alloc(2 ** 14 + 2, 22)
  const header = Buffer.concat([Buffer.of(23, 3, 3), uint16(content.length + 16)])
  const cipher = createCipheriv('aes-128-gcm', key, iv).setAAD(header)
  return Buffer.concat([header, cipher.update(content), cipher.final(), cipher.getAuthTag()])
}

function* interrupted(): Generator<Buffer> {
  const protection = protectServer()
  yield protection.seal(22, ENCRYPTED_EXTENSIONS.subarray(0, 9))
  yield CHANGE
  yield protection.seal(22, ENCRYPTED_EXTENSIONS.subarray(9))
}
