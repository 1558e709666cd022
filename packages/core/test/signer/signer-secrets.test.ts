import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/secret/secret.ts'
import { oneLine, signerScrubber } from '../../src/signer/signer-secrets.ts'

const scrub = (text: string, parameters: Record<string, string>, pins?: string[]): string => {
  const boxed = Object.entries(parameters).map(
    ([name, value]) => [name, new Secret(value)] as const,
  )
  return signerScrubber(new Map(boxed), pins)(text)
}

describe('what a signer said is shown without', () => {
  it.each<[string, Record<string, string>, string, string]>([
    ['a PIN', { pin: '123456' }, 'pin was 123456!', 'pin was [secret]!'],
    ['a short PIN', { pin: '4711' }, 'x4711y 47114711', 'x[secret]y [secret][secret]'],
    ['a PUK', { puk: '87654321' }, 'puk 87654321', 'puk [secret]'],
    ['a password of one letter', { passphrase: 'q' }, 'a q b', 'a [secret] b'],
    ['any other value that can be told from words', { note: 'marked' }, 'a marked', 'a [secret]'],
    [
      'a PIN in a URI',
      { uri: 'pkcs11:id=%02?pin-value=4%371%31' },
      'no 4%371%31, no 4711',
      'no [secret], no [secret]',
    ],
    ['control characters', {}, '\u001b[2Jhello\u202e', 'U+001B[2JhelloU+202E'],
  ])('%s', (_, parameters, text, shown) => {
    expect(scrub(text, parameters)).toBe(shown)
  })

  it('PINs from variables', () => {
    expect(scrub('4711 and 4712', {}, ['4711', '4712'])).toBe('[secret] and [secret]')
  })
})

describe('what a signer said keeps', () => {
  it.each<[string, Record<string, string>, string]>([
    ['where the signer is', { pathExec: '/usr/bin/signer' }, 'no /usr/bin/signer'],
    [
      'which token and key are meant',
      { tokenLabel: 'work-card', pathLib: '/usr/lib/x/lib.so' },
      'no token work-card behind /usr/lib/x/lib.so',
    ],
    ['numbers that are everywhere', { slotId: '0', objectId: '12' }, 'slot 0 of 120'],
    ['words that say where a PIN is', { pinSource: 'env' }, 'the environment has no PIN'],
    ['everything beside an empty PIN', { pin: '' }, 'hello'],
  ])('%s', (_, parameters, text) => {
    expect(scrub(text, parameters)).toBe(text)
  })
})

it('a line is cut, and one', () => {
  expect(oneLine(' a\r\n\tb ', 10)).toBe('a b')
  expect(oneLine('abcdef', 3)).toBe('abc…')
})
