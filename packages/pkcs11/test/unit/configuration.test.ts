import { describe, expect, it } from 'vitest'
import { readConfiguration } from '../../src/configuration.ts'
import { parsePkcs11Uri } from '../../src/pkcs11-uri.ts'
import { TokenError } from '../../src/token-error.ts'

const read = (more: Record<string, string>): ReturnType<typeof readConfiguration> =>
  readConfiguration({ pathLib: '/lib/p11.so', pathExec: '/bin/signer', ...more })

describe('the configuration', () => {
  it('accepts the fields of the specification', () => {
    const settings = read({ slotId: '0', objectId: '2', pin: '123456' })
    expect(settings).toMatchObject({
      library: '/lib/p11.so',
      token: { slotId: 0n },
      object: { id: Buffer.of(2) },
      pin: { value: '123456', env: 'KUBECRED_PKCS11_PIN' },
      warnings: [],
    })
  })

  it.each([
    ['0', '00'],
    ['16', '10'],
    ['255', 'ff'],
  ])('reads objectId as one decimal byte: %s is %s', (objectId, hex) => {
    expect(read({ objectId }).object.id?.toString('hex')).toBe(hex)
  })

  it.each(['02', 'a1b2', 'A1:B2', '00'])('reads objectIdHex: %s', (objectIdHex) => {
    const hex = objectIdHex.replaceAll(':', '').toLowerCase()
    expect(read({ objectIdHex }).object.id?.toString('hex')).toBe(hex)
  })

  it('may repeat a value of the URI', () => {
    const uri = 'pkcs11:token=kube;id=%10?module-path=/lib/p11.so'
    expect(read({ uri, tokenLabel: 'kube', objectId: '16' }).token.label).toBe('kube')
  })

  it('ignores the fields of the client', () => {
    expect(read({ pathSocket: '/s', timeout: '5' }).library).toBe('/lib/p11.so')
  })

  it.each([
    [{ pathLib: '' }, 'pathLib is missing'],
    [{ pathLib: 'lib.so' }, 'pathLib is not absolute: "lib.so"'],
    [{ pathLib: '../lib.so' }, 'pathLib is not absolute'],
    [{ slotId: 'abc' }, 'slotId is not a number: "abc"'],
    [{ slotId: '-1' }, 'slotId is not a number'],
    [{ slotId: '1e3' }, 'slotId is not a number'],
    [{ slotId: '' }, 'slotId is not a number'],
    [{ objectId: '300' }, 'objectId is not a number from 0 to 255'],
    [{ objectId: '0x2' }, 'objectId is not a number from 0 to 255'],
    [{ objectId: '' }, 'objectId is not a number from 0 to 255'],
    [{ objectIdHex: '2' }, 'objectIdHex is not a hexadecimal number'],
    [{ objectIdHex: '' }, 'objectIdHex is not a hexadecimal number'],
    [{ objectIdHex: 'ab'.repeat(256) }, 'objectIdHex is not a hexadecimal number'],
    [{ objectId: '16', objectIdHex: '16' }, 'name different ids'],
    [{ tokenLabel: 'a', uri: 'pkcs11:token=b' }, 'tokenLabel and token of the uri differ'],
    [{ uri: 'pkcs11:?module-path=/other.so' }, 'pathLib and module-path of the uri differ'],
    [{ tokenlabel: 'kube' }, 'the configuration has an unknown name "tokenlabel"'],
    [{ 'object-id': '2' }, 'the configuration has an unknown name "object-id"'],
    [{ pin: '' }, 'the PIN in the configuration is empty'],
  ])('is rejected: %j', (more, message) => {
    expect(() => read(more)).toThrow(TokenError)
    expect(() => read(more)).toThrow(message)
  })
})

describe('a URI', () => {
  it('is parsed as in RFC 7512', () => {
    const uri =
      'pkcs11:token=My%20token%20%C3%A4;serial=DECC;object=k;type=private;id=%69%95%3e%00ab;slot-id=7;library-version=3?pin-source=file:/etc/pin&pin-value=a%26b&module-path=/lib/x.so'
    expect(parsePkcs11Uri(uri)).toEqual({
      token: 'My token ä',
      serial: 'DECC',
      object: 'k',
      id: Buffer.from('69953e006162', 'hex'),
      slotId: '7',
      pinSource: 'file:/etc/pin',
      pinValue: 'a&b',
      modulePath: '/lib/x.so',
    })
  })

  it('may be empty', () => {
    expect(parsePkcs11Uri('pkcs11:')).toEqual({})
  })

  it.each([
    ['http:token=a', 'does not begin with pkcs11:'],
    ['pkcs11:token', 'without a value: "token"'],
    ['pkcs11:token=a;token=b', 'has the attribute token twice'],
    ['pkcs11:token=%zz', 'invalid percent-encoding in token'],
    ['pkcs11:token=%ff', 'not valid UTF-8 in token'],
    ['pkcs11:tokn=a', 'unknown attribute "tokn"'],
    ['pkcs11:type=secret-key', 'has a type other than'],
    ['pkcs11:a=b?c=d?e', 'more than one question mark'],
  ])('is rejected: %s', (uri, message) => {
    expect(() => parsePkcs11Uri(uri)).toThrow(message)
  })

  it('does not reveal its PIN in errors', () => {
    expect(() => parsePkcs11Uri('pkcs11:?pin-value=4711%f&x')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('4711') }),
    )
  })
})
