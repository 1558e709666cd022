import { describe, expect, it } from 'vitest'
import {
  ByteReader,
  handshakeMessage,
  uint8,
  uint16,
  vector8,
  vector16,
  vector24,
} from '../../src/tls/bytes.ts'
import { ALERT, RECORD } from '../../src/tls/constants.ts'
import { MessageJoiner } from '../../src/tls/handshake-messages.ts'
import { type CipherSuite, cipherSuite } from '../../src/tls/key-schedule.ts'
import { RecordProtection, RecordSplitter, sealAlert } from '../../src/tls/records.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const alert = (code: number) => expect.objectContaining({ alert: code })

describe('bytes', () => {
  it('are written with their lengths in front', () => {
    expect(uint8(0xab)).toEqual(hex('ab'))
    expect(uint16(0x0102)).toEqual(hex('0102'))
    expect(vector8(hex('aa'), hex('bbcc'))).toEqual(hex('03 aabbcc'))
    expect(vector16(hex('aa'))).toEqual(hex('0001 aa'))
    expect(vector24(hex('aa'), hex('bb'))).toEqual(hex('000002 aabb'))
    expect(handshakeMessage(20, hex('aa'))).toEqual(hex('14 000001 aa'))
  })

  it('are read in order, and to their end', () => {
    const reader = new ByteReader(hex('01 0203 040506 02aabb 0001cc'), 'it')
    expect([reader.uint8(), reader.uint16(), reader.uint24()]).toEqual([1, 0x0203, 0x040506])
    expect(reader.vector8()).toEqual(hex('aabb'))
    expect(reader.isAtEnd).toBe(false)
    expect(reader.vector16()).toEqual(hex('cc'))
    expect(reader.isAtEnd).toBe(true)
    expect(() => reader.end()).not.toThrow()
    expect(() => reader.uint8()).toThrow('it is truncated')
  })

  it.each([
    ['a number', (reader: ByteReader) => reader.uint16()],
    ['a vector', (reader: ByteReader) => reader.vector8()],
  ])('that are missing from %s are an error', (_, read) => {
    expect(() => read(new ByteReader(hex('05'), 'it'))).toThrow(alert(ALERT.decodeError))
  })

  it('that are left over are an error', () => {
    expect(() => new ByteReader(hex('05'), 'it').end()).toThrow('it has trailing bytes')
  })
})

describe('a stream of bytes', () => {
  const record = (type: number, content: Buffer) =>
    Buffer.concat([uint8(type), uint16(0x0303), vector16(content)])

  it('is split into records, whatever the sizes of its chunks', () => {
    const first = record(RECORD.handshake, hex('aabb'))
    const second = record(RECORD.alert, hex('cc'))
    const bytes = Buffer.concat([first, second, hex('16 03')])
    for (const size of [1, 4, 5, 7, 8, 100]) {
      const splitter = new RecordSplitter()
      const records = []
      for (let at = 0; at < bytes.length; at += size) {
        records.push(...splitter.push(bytes.subarray(at, at + size)))
      }
      expect(records).toEqual([
        { type: 22, header: hex('16 0303 0002'), fragment: hex('aabb'), bytes: first },
        { type: 21, header: hex('15 0303 0001'), fragment: hex('cc'), bytes: second },
      ])
      expect(splitter.rest).toEqual(hex('16 03'))
    }
  })

  it.each(['13 0303 0001', '18 0303 0001', '16 0203 0001', '16 0403 0001'])(
    'is not of TLS: %s',
    (bytes) => {
      expect(() => new RecordSplitter().push(hex(bytes))).toThrow(alert(ALERT.decodeError))
    },
  )

  it('may have any minor version, as the first ClientHello', () => {
    expect(new RecordSplitter().push(hex('16 0301 0001 aa'))).toHaveLength(1)
  })

  it.each([
    ['14', 0x4000],
    ['16', 0x4000],
    ['17', 0x4100],
  ])('has records of type %s with at most %i bytes', (type, limit) => {
    const head = (length: number) => Buffer.concat([hex(`${type} 0303`), uint16(length)])
    expect(new RecordSplitter().push(head(limit))).toEqual([])
    expect(() => new RecordSplitter().push(head(limit + 1))).toThrow(alert(ALERT.recordOverflow))
  })

  it('is joined into handshake messages of a limited length', () => {
    const joiner = new MessageJoiner()
    expect(joiner.isAtMessageEnd).toBe(true)
    expect(joiner.push(hex('01 0000'))).toEqual([])
    expect(joiner.isAtMessageEnd).toBe(false)
    expect(joiner.push(hex('02 aabb 02 000000 03'))).toEqual([
      { type: 1, body: hex('aabb'), bytes: hex('01 000002 aabb') },
      { type: 2, body: hex(''), bytes: hex('02 000000') },
    ])
    expect(joiner.isAtMessageEnd).toBe(false)
    expect(() => joiner.push(hex(''))).toThrow('a handshake record is empty')
    expect(new MessageJoiner().push(hex('01 020000'))).toEqual([])
    expect(() => new MessageJoiner().push(hex('01 020001'))).toThrow('too long')
  })
})

describe('an encrypted record', () => {
  const suite = cipherSuite(0x1301) as CipherSuite
  const secret = Buffer.alloc(32, 7)
  const open = (bytes: Buffer, protection = new RecordProtection(suite, secret)) =>
    new RecordSplitter().push(bytes).map((record) => protection.open(record))

  it('is decrypted with the same secret and in the same order', () => {
    const sender = new RecordProtection(suite, secret)
    const [first, second] = [sender.seal(22, hex('aabb')), sender.seal(23, hex('cc'))]
    expect(open(Buffer.concat([first, second]))).toEqual([
      { type: 22, content: hex('aabb') },
      { type: 23, content: hex('cc') },
    ])
    const other = new RecordProtection(suite, Buffer.alloc(32)).seal(22, hex('aa'))
    for (const bytes of [second, other]) {
      expect(() => open(bytes)).toThrow(alert(ALERT.decryptError))
    }
  })

  it('is not decrypted if a byte of it was changed', () => {
    const sealed = new RecordProtection(suite, secret).seal(22, hex('aabb'))
    for (const at of [2, 5, 6, sealed.length - 1]) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => open(changed)).toThrow(alert(ALERT.decryptError))
    }
  })

  it('is one of several if the content is longer than 16 KiB', () => {
    const content = Buffer.alloc(2 ** 14 + 1, 5)
    const sealed = open(new RecordProtection(suite, secret).seal(22, content))
    expect(sealed.map((each) => each.content.length)).toEqual([2 ** 14, 1])
    expect(new RecordProtection(suite, secret).seal(22, hex(''))).toHaveLength(0)
  })

  it('loses its padding, and needs a type', () => {
    const seal = (type: number, content: Buffer) =>
      new RecordProtection(suite, secret).seal(type, content)
    expect(open(seal(0, hex('aa 16 0000')))).toEqual([{ type: 22, content: hex('aa') }])
    expect(open(seal(0, hex('16')))).toEqual([{ type: 22, content: hex('') }])
    expect(() => open(seal(0, hex('0000')))).toThrow('contains only padding')
  })

  it('is at least as long as its tag and a type', () => {
    const short = Buffer.concat([hex('17 0303 0010'), Buffer.alloc(16)])
    expect(() => open(short)).toThrow('an encrypted record is too short')
  })

  it('cannot be made any more when its keys are wiped', () => {
    const wiped = new RecordProtection(suite, secret)
    wiped.wipe()
    const sealed = wiped.seal(22, hex('aa'))
    expect(() => open(sealed)).toThrow(alert(ALERT.decryptError))
  })

  it('is a fatal alert, or two warnings if the user cancelled', () => {
    const contents = (code: number) =>
      open(sealAlert(new RecordProtection(suite, secret), code as typeof ALERT.closeNotify))
    expect(contents(ALERT.internalError)).toEqual([{ type: 21, content: hex('0250') }])
    expect(contents(ALERT.userCanceled)).toEqual([
      { type: 21, content: hex('015a') },
      { type: 21, content: hex('0100') },
    ])
  })
})
