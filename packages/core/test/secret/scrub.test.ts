import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hideSecrets, scrub, showControlCharacters } from '../../src/secret/scrub.ts'
import { Secret } from '../../src/secret/secret.ts'

const JWT = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`
const BODY = 'q'.repeat(64)
/** Composed here, so that secret scanners do not report this file. */
const pem = (label: string): string =>
  ['-----BEGIN', label, 'KEY-----\n'].join(' ') + BODY + ['\n-----END', label, 'KEY-----'].join(' ')

describe('what looks like a credential is removed', () => {
  it.each([
    ['a private key', pem('PRIVATE'), '[secret]'],
    ['a private key with a name', pem('EC PRIVATE'), '[secret]'],
    ['a private key that is cut off', pem('PRIVATE').slice(0, 60), '[secret]'],
    ['a JWT', `got ${JWT}.`, 'got [secret].'],
    ['a JWT without a signature', `got ${JWT.slice(0, 47)} ok`, 'got [secret] ok'],
    ['an EKS token', `k8s-aws-v1.${'A'.repeat(40)}`, '[secret]'],
    ['a Google token', `ya29.${'A'.repeat(40)}`, '[secret]'],
    ['a GitLab token', `glpat-${'A'.repeat(20)}`, '[secret]'],
    ['a header', 'Authorization: Bearer abcdefgh.12', 'Authorization: Bearer [secret]'],
    ['a basic header', 'authorization: basic dXNlcjpwYXNz', 'authorization: basic [secret]'],
    ['JSON', '{"access_token": "abc", "x": 1}', '{"access_token": "[secret]", "x": 1}'],
    ['a field of the protocol', '{"clientKeyData":"abc"}', '{"clientKeyData":"[secret]"}'],
    ['a password', 'password=hunter2;', 'password=[secret];'],
    ['a password with spaces', 'Password : hunter2', 'Password : [secret]'],
    ['a flag', '--client-secret=hunter2 --x', '--client-secret=[secret] --x'],
    ['a form', 'client_secret=hunter2&a=b', 'client_secret=[secret]&a=b'],
    ['a variable', 'AWS_SECRET_ACCESS_KEY=hunter2', 'AWS_SECRET_ACCESS_KEY=[secret]'],
    ['a PIN', 'pin: 123456', 'pin: [secret]'],
    ['a URL', 'https://user:hunter2@proxy:3128/x', 'https://user:[secret]@proxy:3128/x'],
    ['a URL without a user', 'redis://:hunter2@host', 'redis://:[secret]@host'],
  ])('%s', (_, text, shown) => {
    expect(scrub(text)).toBe(shown)
  })

  it.each([
    'error: your session has expired, run "aws sso login"',
    'dial tcp 10.0.0.1:6443: connect: connection refused',
    'mapping: a to b',
    'GET https://host:6443/api/v1/pods?limit=500 403',
    'no such file: /home/ann/.kube/token.txt',
    'eyJ is how a JWT begins',
    'could not get token: could not create config',
    'get-token: authentication error: invalid_grant',
    'failed to get token: AzureCLICredential: please run az login',
    'user@example.com',
  ])('and other text stays: %s', (text) => {
    expect(scrub(text)).toBe(text)
  })
})

describe('a known secret is removed', () => {
  it('everywhere in the text', () => {
    const known = [new Secret('hunter2')]
    expect(scrub('hunter2 xhunter2x\nhunter2', known)).toBe('[secret] x[secret]x\n[secret]')
  })

  it('before a shorter one that it contains, so that nothing of it stays', () => {
    const known = [new Secret('abcdef'), new Secret('abcdefghij')]
    expect(scrub('abcdefghij', known)).toBe('[secret]')
  })

  it('line by line, because a log may add text to each line', () => {
    const known = [new Secret('first-line\r\nsecond-line\n')]
    expect(scrub('> first-line\n> second-line', known)).toBe('> [secret]\n> [secret]')
  })

  it('unless it is so short that the message would become unreadable', () => {
    expect(scrub('a pod is a pod', [new Secret('pod'), new Secret('')])).toBe('a pod is a pod')
  })

  it('whatever the text, if it has six characters or more', () => {
    // The replacement contains the word "secret", so that word itself cannot be removed.
    const value = fc.stringMatching(/^[a-c0-1.*+$\\/ ]{6,14}$/)
    const around = fc.string({ maxLength: 8 })
    const piece = fc.tuple(around, fc.nat(), around)
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 4 }),
        fc.array(piece),
        (values, pieces) => {
          const text = pieces
            .map(([before, index, after]) => before + values[index % values.length] + after)
            .join('')
          const shown = scrub(
            text,
            values.map((each) => new Secret(each)),
          )
          for (const each of values) expect(shown).not.toContain(each)
        },
      ),
    )
  })

  it('in linear time', () => {
    for (const text of ['eyJ-', '://a:', '-----BEGIN ', 'token=', 'a_', '"token":"', 'bearer ']) {
      scrub(text.repeat(2000))
    }
  }, 5000)
})

describe('control characters become visible', () => {
  it.each([
    ['\u001b[1mbold\u001b[0m', 'U+001B[1mboldU+001B[0m'],
    ['\u001b[2J', 'U+001B[2J'],
    ['bell\u0007', 'bellU+0007'],
    ['\u0000', 'U+0000'],
    ['del\u007f', 'delU+007F'],
    ['\u009b1m', 'U+009B1m'],
    ['right\u202eleft', 'rightU+202Eleft'],
    ['zero\u200bwidth', 'zeroU+200Bwidth'],
    ['\ud800', 'U+D800'],
    ['\ue000', 'U+E000'],
    ['\u{f0000}', 'U+F0000'],
    ['denied\rlogged in', 'deniedU+000Dlogged in'],
    ['a\vb\fc\u2028d\u2029', 'aU+000BbU+000CcU+2028dU+2029'],
  ])('%j is shown as %s', (text, shown) => {
    expect(showControlCharacters(text)).toBe(shown)
  })

  it.each([
    ['tabs and line breaks', 'a\tb\nc\r\nd'],
    ['letters', 'Grüße, 日本語, العربية'],
    ['marks', 'e\u0301'],
    ['numbers', '1٢Ⅷ'],
    ['punctuation', '!?«»–„“'],
    ['symbols', '$+<=>^`|~©😀'],
    ['separators', 'a b\u00a0c\u2003d'],
  ])('%s stay', (_, text) => {
    expect(showControlCharacters(text)).toBe(text)
  })

  it('and none is left, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(showControlCharacters(text)).not.toMatch(
          /\r(?!\n)|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u,
        )
      }),
    )
  })
})

describe('a known secret is removed in every encoding in which a program may repeat it:', () => {
  const value = 'pa ss+/w"örd'
  const known = [new Secret(value)]
  const base64 = (text: string): string => Buffer.from(text).toString('base64')

  it.each([
    ['percent-encoded', encodeURIComponent(value)],
    ['percent-encoded in lower case', encodeURIComponent(value).toLowerCase()],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(value))],
    ['as in a form', encodeURIComponent(value).replaceAll('%20', '+')],
    ['in JSON', JSON.stringify(value).slice(1, -1)],
  ])('%s', (_, text) => {
    expect(hideSecrets(`a ${text} b`, known)).toBe('a [secret] b')
  })

  it.each(['', 'a', 'ab', 'abc', 'Bearer '])('in base64 after %j', (before) => {
    for (const after of ['', 'x', 'xy', 'xyz']) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(before + value + after).toString(encoding)
        const shown = hideSecrets(text, known)
        expect(shown).toContain('[secret]')
        // One character at each end may remain: it also depends on the neighbouring byte.
        expect(shown.replace('[secret]', '').length).toBeLessThan(
          base64(before).length + base64(after).length + 4,
        )
      }
    }
  })

  it('and other text stays', () => {
    expect(hideSecrets(`token: abcdef, ${base64('something else')}`, known)).toContain('abcdef')
  })
})
