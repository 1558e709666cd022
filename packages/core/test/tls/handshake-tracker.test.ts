import { createCipheriv } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { HandshakeError } from '../../src/tls/alert.ts'
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

it('accepts the unmodified handshake', () => {
  expect(play(GOOD).request?.schemes).toContain(0x0804)
})

it('accepts a flight that is split over many records', () => {
  const flight = [ENCRYPTED_EXTENSIONS, REQUEST, CERTIFICATE, VERIFY, FINISHED]
  const bytes = Buffer.concat(flight)
  const protection = protectServer()
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
    protection.seal(22, bytes.subarray(7 * at, 7 * at + 7)),
  )
  const server = [hex(TRACE.serverHello), CHANGE, CHANGE, ...pieces, Buffer.of(23, 3, 3)]
  expect(play({ ...GOOD, server }).request?.schemes).toContain(0x0804)
})

describe('a handshake is rejected if its traffic secrets', () => {
  const cases: [string, readonly Buffer[], string][] = [
    ['were not reported', [], 'did not report'],
    ['were reported for one side only', GOOD.keylog.slice(1), 'did not report'],
    ['were reported twice', [...GOOD.keylog, ...GOOD.keylog], 'did not report'],
    [
      'belong to another connection',
      lines({ clientHello: SIMPLE.clientHello }),
      'another handshake',
    ],
    ['are too short', lines({ clientSecret: TRACE.clientSecret.slice(2) }), 'another handshake'],
    ['are not in hexadecimal', lines({ clientSecret: `${'0'.repeat(63)}g` }), 'did not report'],
    ['have an odd number of digits', lines({ clientSecret: '0'.repeat(63) }), 'did not report'],
    ['are wrong', lines({ clientSecret: TRACE.serverSecret }), 'cannot be decrypted'],
    ['are truncated', [Buffer.from('CLIENT_HANDSHAKE_TRAFFIC_SECRET x')], 'did not report'],
    ['have no label', [Buffer.from('x')], 'did not report'],
  ]
  it.each(cases)('%s', (_, keylog, says) => {
    refuses({ ...GOOD, keylog }, says)
  })
})

describe('a handshake is rejected if the plaintext part of the server', () => {
  const hello = hex(TRACE.serverHello)
  const retry = hex(RETRY.helloRetryRequest)
  const otherSuite = Buffer.from(retry)
  otherSuite.writeUInt16BE(0x1303, 5 + 4 + 2 + 32 + 1)
  const cases: [string, Buffer[], string][] = [
    ['is empty', [], 'not start with a ServerHello'],
    ['is an alert', [ALERT], 'not start with a ServerHello'],
    ['is not TLS', [Buffer.from('HTTP/1.1 400 Bad Request\r\n')], 'not a TLS record'],
    ['is SSL 2', [hex('8003020000')], 'not a TLS record'],
    ['is a record that is too long', [hex('1603034001')], 'too long'],
    ['is a message that is too long', [hex('160303000402100000')], 'too long'],
    ['is an empty record', [hex('1603030000'), hello], 'handshake record is empty'],
    ['is another message', [record(22, REQUEST)], 'not start with a ServerHello'],
    ['has trailing bytes', [record(22, hello.subarray(5), Buffer.of(8))], 'more data'],
    ['is two hellos in a record', [record(22, hello.subarray(5), hello.subarray(5))], 'more data'],
    ['has two HelloRetryRequests', [retry, retry, hello], 'two HelloRetryRequests'],
    ['changes the cipher suite', [otherSuite, hello], 'changed the cipher suite'],
    ['has a HelloRetryRequest that OpenSSL did not answer', [retry, hello], 'of ClientHellos'],
    ['has a change_cipher_spec that is too long', [hex('14030300020101'), hello], 'malformed'],
    ['has an empty change_cipher_spec', [hex('1403030000'), hello], 'malformed'],
    ['is interrupted', [part(hello, 0, 9), CHANGE, part(hello, 9)], 'within a handshake message'],
    ['is interrupted by an alert', [part(hello, 0, 9), ALERT, part(hello, 9)], 'not start with'],
    ['is not TLS 1.3', [changed(hello, '002b00020304', '002b00020303')], 'TLS 1.3'],
    ['has no version', [changed(hello, '002b00020304', '002c00020304')], 'TLS 1.3'],
    ['has an unknown cipher suite', [changed(hello, '00130100', '00130400')], 'unsupported'],
    ['has a compression method', [changed(hello, '00130100', '00130101')], 'compression'],
    ['resumes a session', [changed(hello, '00330024', '00290024')], 'resumed'],
    ['has a duplicate extension', [changed(hello, '00330024', '002b0024')], 'duplicate'],
    ['is truncated', [changed(hello, '002e0033', '002f0033')], 'truncated'],
    ['has bytes after its extensions', [changed(hello, '002e0033', '00280033')], 'trailing'],
  ]
  it.each(cases)('%s', (_, server, says) => {
    refuses({ ...GOOD, server: [...server, ...GOOD.server.slice(1)] }, says)
  })
})

describe('a handshake is rejected if the encrypted flight of the server', () => {
  const flights: [string, Buffer[], string][] = [
    ['has no Finished', [ENCRYPTED_EXTENSIONS, REQUEST, CERTIFICATE, VERIFY], 'no Finished'],
    ['has no CertificateVerify', [ENCRYPTED_EXTENSIONS, REQUEST, CERTIFICATE, FINISHED], 'order'],
    ['has no Certificate', [ENCRYPTED_EXTENSIONS, FINISHED], 'type 20 out of order'],
    ['has no EncryptedExtensions', [REQUEST, CERTIFICATE, VERIFY, FINISHED], 'order'],
    ['has two requests', [ENCRYPTED_EXTENSIONS, REQUEST, REQUEST, CERTIFICATE], 'order'],
    ['has a late request', [ENCRYPTED_EXTENSIONS, CERTIFICATE, REQUEST, VERIFY, FINISHED], 'order'],
    ['has a KeyUpdate', [ENCRYPTED_EXTENSIONS, hex('1800000101'), CERTIFICATE], 'type 24 out'],
    [
      'has a message after Finished',
      [ENCRYPTED_EXTENSIONS, REQUEST, CERTIFICATE, VERIFY, FINISHED, REQUEST],
      'order',
    ],
    [
      'has part of a message after Finished',
      [ENCRYPTED_EXTENSIONS, CERTIFICATE, VERIFY, FINISHED, Buffer.of(4)],
      'more data',
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
    ['is corrupted', [damaged], 'cannot be decrypted'],
    ['has records out of order', [seal(22, ENCRYPTED_EXTENSIONS), flight], 'cannot be decrypted'],
    ['is not encrypted', [record(22, ENCRYPTED_EXTENSIONS)], 'unencrypted record'],
    ['is an alert', [seal(21, hex('0228'))], 'another record within its flight'],
    ['is application data', [seal(23, hex('0228'))], 'another record within its flight'],
    ['is too short', [hex('1703030010'), Buffer.alloc(16)], 'too short'],
    ['is only padding', [seal(0, Buffer.alloc(9))], 'only padding'],
    ['has an empty handshake record', [sealEmpty()], 'handshake record is empty'],
    ['has a record with too much content', [sealTooMuch()], 'is too long'],
    ['has a record that is too long', [hex('1703034101')], 'too long'],
    ['is interrupted', [...interrupted()], 'within a handshake message'],
  ]
  it.each(records)('%s', (_, server, says) => {
    refuses({ ...GOOD, server: [hello, ...server] }, says)
  })

  it('is longer than the limit', () => {
    refuses({ ...GOOD, server: [...GOOD.server, Buffer.alloc(2 ** 18)] }, 'longer than 262144')
  })
})

describe('a handshake is rejected if the CertificateRequest', () => {
  const cases: [string, Buffer, string][] = [
    ['has a context', request([schemes], Buffer.of(1)), 'context'],
    ['has no schemes', request([extension(47, vector16())]), 'no signature_algorithms'],
    [
      'has an empty list of schemes',
      request([extension(13, vector16())]),
      'empty signature_algorithms',
    ],
    ['has half a scheme', request([extension(13, vector16(Buffer.of(8)))]), 'truncated'],
    [
      'has bytes after the schemes',
      request([extension(13, vector16(uint16(1)), uint16(1))]),
      'bytes',
    ],
    ['has schemes twice', request([schemes, schemes]), 'duplicate'],
    [
      'has a list that is too long',
      handshakeMessage(13, hex('000009000d000400020804')),
      'truncated',
    ],
    [
      'has trailing bytes',
      handshakeMessage(13, vector8(), vector16(schemes), hex('00')),
      'trailing',
    ],
    ['is empty', handshakeMessage(13), 'truncated'],
  ]
  it.each(cases)('%s', (_, message, says) => {
    refuses(playable(TRACE, [ENCRYPTED_EXTENSIONS, message, CERTIFICATE, VERIFY, FINISHED]), says)
  })
})

describe('a handshake is rejected if the last flight of OpenSSL', () => {
  const all = openServerFlight(TRACE)
  const withoutRequest = [ENCRYPTED_EXTENSIONS, CERTIFICATE, VERIFY, FINISHED]
  const shown = handshakeMessage(11, hex('00000006000001ff0000'))
  const wrong = handshakeMessage(20, Buffer.alloc(32))
  const flights: [string, Buffer, string][] = [
    ['has no Certificate', sealEmptyFlight(TRACE, all, []), 'unexpected messages'],
    [
      'has two Certificates',
      sealEmptyFlight(TRACE, all, [EMPTY_CERTIFICATE, EMPTY_CERTIFICATE]),
      'unexpected messages',
    ],
    ['has a certificate in it', sealEmptyFlight(TRACE, all, [shown]), 'of its own'],
    ['has another transcript', sealEmptyFlight(TRACE, withoutRequest), 'transcript differs'],
    ['has a wrong Finished', sealClient(22, EMPTY_CERTIFICATE, wrong), 'transcript differs'],
    ['has a short Finished', sealClient(22, EMPTY_CERTIFICATE, hex('1400000101')), 'differs'],
    ['has trailing bytes', sealClient(22, EMPTY_CERTIFICATE, wrong, Buffer.of(1)), 'more data'],
    ['is application data', sealClient(23, EMPTY_CERTIFICATE), 'within its last flight'],
    ['is too long', sealClient(22, handshakeMessage(11, Buffer.alloc(5000))), 'too long'],
    ['is not encrypted', record(22, EMPTY_CERTIFICATE), 'other than a ClientHello'],
    ['is corrupted', sealClient(22, EMPTY_CERTIFICATE).fill(1, 10, 11), 'cannot be decrypted'],
    ['is a third ClientHello', Buffer.concat(Array(2).fill(hex(TRACE.clientHello))), 'other than'],
  ]
  it.each(flights)('%s', (_, flight, says) => {
    refuses({ ...GOOD, client: [hex(TRACE.clientHello), flight] }, says)
  })

  it('has a Certificate that the server did not request', () => {
    refuses(playable(TRACE, withoutRequest), 'unexpected messages')
  })

  it('is followed by too many bytes', () => {
    const client = [...GOOD.client, Buffer.alloc(2 ** 20 + 1)]
    refuses({ ...GOOD, client }, 'wrote too much')
  })

  it('is interrupted by an unencrypted record', () => {
    const client = [hex(TRACE.clientHello), sealClient(22, EMPTY_CERTIFICATE), CHANGE]
    refuses({ ...GOOD, client }, 'another record within a handshake message')
  })

  it('is an alert; the state is then "failed"', () => {
    for (const alert of [ALERT, sealClient(21, hex('0228'))]) {
      const client = [hex(TRACE.clientHello), alert, Buffer.of(1, 2)]
      refuses({ ...GOOD, client }, 'the state is failed')
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
  expect(problem).toBeInstanceOf(HandshakeError)
  expect(problem).toMatchObject({ message: expect.stringContaining(says) })
}

function lines(other: Partial<Trace>): Buffer[] {
  const trace = { ...TRACE, ...other }
  return [keylogLine('SERVER', TRACE), keylogLine('CLIENT', trace)]
}

/** Part of a record's content, in its own record. */
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

/** A record without content. `seal` cannot make one, so the type is passed as content, and padding as the type. */
function sealEmpty(): Buffer {
  return protectServer().seal(0, Buffer.of(22))
}

/** A record whose content is one byte too long, while its ciphertext is within the limit. */
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
