import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/secret/secret.ts'
import { oneLine, signerScrubber } from '../../src/sources/signer-secrets.ts'

const scrub = (text: string, parameters: Record<string, string>, pins?: string[]): string => {
  const boxed = Object.entries(parameters).map(
    ([name, value]) => [name, new Secret(value)] as const,
  )
  return signerScrubber(new Map(boxed), pins)(text)
}

describe('the output of a signer is shown without', () => {
  it.each<[string, Record<string, string>, string, string]>([
    ['a PIN', { pin: '123456' }, 'pin was 123456!', 'pin was [secret]!'],
    ['a short PIN', { pin: '4711' }, 'x4711y 47114711', 'x[secret]y [secret][secret]'],
    ['a PUK', { puk: '87654321' }, 'puk 87654321', 'puk [secret]'],
    ['a password of one letter', { passphrase: 'q' }, 'a q b', 'a [secret] b'],
    ['any other value that is not a common word', { note: 'marked' }, 'a marked', 'a [secret]'],
    [
      'a PIN in a URI',
      { uri: 'pkcs11:id=%02?pin-value=4%371%31' },
      'no 4%371%31, no 4711',
      'no [secret], no [secret]',
    ],
    [
      'parameters named like a secret, also if the last word is harmless',
      {
        authTokenId: 'abcdef',
        session_name: 'ghijkl',
        secretName: 'mnopqr',
        accessKeyId: 'AKIAXX',
      },
      'abcdef ghijkl mnopqr AKIAXX',
      '[secret] [secret] [secret] [secret]',
    ],
    [
      'values that look like a secret, whatever their name',
      { keyId: 'A1b2C3d4E5f6G7h8I9j0', url: 'https://u:hunter2@h/', host: 'https://h/?sig=abc' },
      'A1b2C3d4E5f6G7h8I9j0 at https://u:hunter2@h/ or https://h/?sig=abc',
      '[secret] at [secret] or [secret]',
    ],
    [
      'a key in PEM',
      { keyFile: '-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----' },
      'line MHcCAQ',
      'line [secret]',
    ],
    ['a value of an unknown name', { key: 'marked-key' }, 'a marked-key', 'a [secret]'],
    [
      'a PIN that is part of something else',
      { pin: '4711', keyId: 'key-4711-x' },
      'no key-4711-x',
      'no key-[secret]-x',
    ],
    ['control characters', {}, '\u001b[2Jhello\u202e', 'U+001B[2JhelloU+202E'],
  ])('%s', (_, parameters, text, shown) => {
    expect(scrub(text, parameters)).toBe(shown)
  })

  it('PINs from variables', () => {
    expect(scrub('4711 and 4712', {}, ['4711', '4712'])).toBe('[secret] and [secret]')
  })
})

describe('the output of a signer still shows', () => {
  it.each<[string, Record<string, string>, string]>([
    ['where the signer is', { pathExec: '/usr/bin/signer' }, 'no /usr/bin/signer'],
    [
      'the token and the module',
      { tokenLabel: 'work-card', pathLib: '/usr/lib/x/lib.so' },
      'no token work-card behind /usr/lib/x/lib.so',
    ],
    ['small numbers', { slotId: '0', objectId: '12' }, 'slot 0 of 120'],
    ['words that say where the PIN is', { pinSource: 'env' }, 'the environment has no PIN'],
    [
      'the key of a cloud, its region and profile',
      {
        keyId: '1234abcd-12ab-34cd-56ef-1234567890ab',
        region: 'eu-central-1',
        profile: 'dev-team',
      },
      'AccessDenied: kms:Sign on 1234abcd-12ab-34cd-56ef-1234567890ab in eu-central-1 (profile dev-team)',
    ],
    [
      'an ARN, a path, a cloud resource',
      {
        key: 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
        other: 'projects/p/locations/global/keyRings/r/cryptoKeys/k',
        pinFile: '/run/user/1000/pin',
        aws_region: 'eu-north-1',
      },
      'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab projects/p/locations/global/keyRings/r/cryptoKeys/k /run/user/1000/pin eu-north-1',
    ],
    ['a URI without a PIN', { uri: 'pkcs11:object=work' }, 'no pkcs11:object=work'],
    ['everything if the PIN is empty', { pin: '' }, 'hello'],
  ])('%s', (_, parameters, text) => {
    expect(scrub(text, parameters)).toBe(text)
  })
})

it('oneLine joins lines and cuts at the limit', () => {
  expect(oneLine(' a\r\n\tb ', 10)).toBe('a b')
  expect(oneLine('abcdef', 3)).toBe('abc…')
})
