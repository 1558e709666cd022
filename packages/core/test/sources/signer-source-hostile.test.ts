import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { SIGNER_API_VERSION as apiVersion } from '../../src/signer/signer-protocol.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { makePair, makeSelfSigned, type TestKeyPair } from '../fixtures/make-certificates.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { isRunning } from '../fixtures/processes.ts'
import { expectNoProcessesLeft, SignerFixture, toSign } from '../fixtures/signer-fixture.ts'

let pair: TestKeyPair
beforeAll(async () => {
  pair = await makePair()
})
afterEach(expectNoProcessesLeft)

const SECRETS = { pin: '4711', other: 'secret-parameter' }

describe('a misbehaving signer', () => {
  it.each([
    [
      'garbage',
      'ERR_SIGNER_RESPONSE_INVALID',
      /printed something that is not a JSON object, but SignResponse/,
    ],
    ['binary', 'ERR_SIGNER_RESPONSE_INVALID', /bytes that are not UTF-8/],
    ['huge', 'ERR_SIGNER_RESPONSE_INVALID', /printed more than 1048576 bytes/],
    [
      'silent',
      'ERR_SIGNER_RESPONSE_INVALID',
      /ended with status 0 without an answer, but SignResponse/,
    ],
    ['fails', 'ERR_SIGNER_FAILED', /ended with status 7 and returned no signature/],
    ['killed', 'ERR_SIGNER_FAILED', /was ended by SIGKILL and returned no signature/],
    ['twice', 'ERR_SIGNER_RESPONSE_INVALID', /more than one answer/],
    ['refuses', 'ERR_SIGNER_FAILED', /returned no signature: the PIN \[secret\] is wrong$/],
    [
      'certificateOnly',
      'ERR_SIGNER_RESPONSE_INVALID',
      /kind CertificateResponse, but SignResponse/,
    ],
    ['other kind', 'ERR_SIGNER_RESPONSE_INVALID', /kind Certificate, but SignResponse/],
  ])(
    'with the behaviour "%s" fails with %s, without a secret',
    async (behaviour, code, message) => {
      await using scene = new SignerFixture(pair)
      const key = await scene.key({ ...SECRETS, behaviour, only: 'signature' })
      const error = await key.sign(toSign('x')).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
      const shown = [error, scene.events]
      expectNoLeak(shown, Object.values(SECRETS))
      expect(JSON.stringify(shown)).not.toContain('4711')
      expect(scene.eventsOf('sign-failed')).toMatchObject([{ error: { code } }])
    },
  )

  it('that exits with an error has the end of its standard error in the error, scrubbed', async () => {
    await using scene = new SignerFixture(pair)
    await expect(scene.key({ ...SECRETS, behaviour: 'fails' })).rejects.toMatchObject({
      exitStatus: 7,
      stderrTail: 'wrong PIN [secret], [secret] is no good',
    })
    expect(scene.eventsOf('plugin-stderr')).toMatchObject([
      { text: 'wrong PIN [secret], [secret] is no good\n' },
    ])
  })

  it('that does not answer is stopped with its children', async () => {
    await using scene = new SignerFixture(pair)
    const parameters = { stays: 'yes', behaviour: 'hangs', only: 'signature' }
    const key = await scene.key(parameters, { limits: { timeoutMs: 3000 } })
    await expect(key.sign(toSign('x'))).rejects.toMatchObject({
      code: 'ERR_SIGNER_FAILED',
      message: expect.stringMatching(/did not answer within 3 s and was stopped$/),
    })
    const { pid = 0, child = 0 } = scene.log().at(-1) ?? {}
    await vi.waitFor(() => expect([pid, child].filter(isRunning)).toEqual([]), 10_000)
  })

  it('that prints unexpected output is stopped, and the next request starts it again', async () => {
    await using scene = new SignerFixture(pair)
    const source = scene.source({ stays: 'yes' })
    // It answers the request, and later once more.
    const late = `setTimeout(() => say(answerTo(request, '')), 100)`
    const code = readFileSync(scene.program, 'utf8')
    writeFileSync(scene.program, code.replace('if (configuration.stays', `${late}\n$&`))
    await scene.acquire(source)
    await vi.waitFor(() => expect(scene.eventsOf('warning')).toHaveLength(1))
    expect(scene.eventsOf('warning')[0]?.message).toContain('printed unexpected output')
    writeFileSync(scene.program, code)
    await scene.acquire(source)
    expect(scene.asked()).toEqual(Array(2).fill('CertificateRequest by variable'))
  })

  it.each([
    ['text', 'hello'],
    ['half a certificate', 'half'],
    ['a certificate and more', 'more'],
    ['PEM without a certificate', '-----BEGIN X-----\nAAAA\n-----END X-----'],
  ])('that returns %s as its certificate fails', async (_, what) => {
    await using scene = new SignerFixture(pair)
    const der = Buffer.from(pair.certificate.split('\n').slice(1, -2).join(''), 'base64')
    const bytes =
      what === 'half'
        ? der.subarray(0, der.length / 2)
        : what === 'more'
          ? Buffer.concat([der, Buffer.from('more')])
          : Buffer.from(what)
    const certificate = bytes.toString('base64')
    const print = JSON.stringify({ apiVersion, kind: 'CertificateResponse', certificate })
    await expect(scene.key({ print })).rejects.toMatchObject({ code: 'ERR_SIGNER_CERTIFICATE' })
  })

  it('that returns a chain too long for any server fails', async () => {
    await using scene = new SignerFixture(pair)
    writeFileSync(join(scene.folder, 'certificate.pem'), pair.certificate.repeat(1000))
    await expect(scene.key({ chain: 'yes' })).rejects.toMatchObject({
      code: 'ERR_SIGNER_CERTIFICATE',
      message: expect.stringContaining('the chain is longer than 60000 bytes'),
    })
  })

  it('that returns an expired certificate, or one with an unsupported key, fails', async () => {
    await using old = new SignerFixture(await makePair({ lifetimeMs: -60_000 }))
    await expect(old.key()).rejects.toMatchObject({
      code: 'ERR_SIGNER_CERTIFICATE',
      message: expect.stringContaining('expired at'),
    })
    const other = await makeSelfSigned({ name: 'Ed25519' })
    await using scene = new SignerFixture(other)
    const der = Buffer.from(other.certificate.split('\n').slice(1, -2).join(''), 'base64')
    // Ed448 is the next number in the same family of object identifiers.
    const changed = Buffer.from(der.toString('hex').replaceAll('06032b6570', '06032b6571'), 'hex')
    writeFileSync(
      join(scene.folder, 'certificate.pem'),
      `-----BEGIN CERTIFICATE-----\n${changed.toString('base64')}\n-----END CERTIFICATE-----\n`,
    )
    await expect(scene.key({ chain: 'yes' })).rejects.toMatchObject({
      code: 'ERR_SIGNER_CERTIFICATE',
      message: expect.stringContaining('kubecred does not support Ed448 keys'),
    })
  })
})

describe('a wrong PIN', () => {
  it('is tried once for all queued requests, and then not before a pause', async () => {
    await using scene = new SignerFixture(pair)
    const clock = new FakeClock(Date.now())
    const parameters = { stays: 'yes', behaviour: 'refuses', only: 'signature', delay: '50' }
    const key = await scene.key(parameters, { ports: { clock } })
    const signing = Array.from({ length: 10 }, () => key.sign(toSign('x')))
    const outcomes = await Promise.allSettled(signing)
    expect(outcomes.map(({ status }) => status)).toEqual(Array(10).fill('rejected'))
    await expect(key.sign(toSign('x'))).rejects.toMatchObject({
      code: 'ERR_SIGNER_FAILED',
      nextTryAt: expect.any(Number),
    })
    const count = () => scene.asked().filter((each) => each.startsWith('SignRequest')).length
    expect(count()).toBe(1)
    clock.advance(1500)
    await expect(key.sign(toSign('x'))).rejects.toMatchObject({ code: 'ERR_SIGNER_FAILED' })
    await expect(key.sign(toSign('x'))).rejects.toMatchObject({ code: 'ERR_SIGNER_FAILED' })
    expect(count()).toBe(2)
    clock.advance(1500)
    await expect(key.sign(toSign('x'))).rejects.toMatchObject({ code: 'ERR_SIGNER_FAILED' })
    expect(count()).toBe(2)
  })
})
