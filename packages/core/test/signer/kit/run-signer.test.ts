import { X509Certificate } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { makePair, makeRsaPair } from '../../fixtures/make-certificates.ts'
import {
  certificateRequest,
  runSigner,
  signerWith,
  signRequest,
  startSigner,
  VERSION,
  writeProgram,
} from './spawn-signer.ts'

let pem: string
beforeAll(async () => {
  pem = (await makePair({ intermediate: true })).certificate
})

const SIGNATURE = Buffer.from('signature').toString('base64')
const ANSWER = `{"apiVersion":"${VERSION}","kind":"SignResponse","signature":"${SIGNATURE}"}\n`
const TWO_NUMBERS = 'Buffer.from([0x30, 6, 2, 1, 1, 2, 1, 1])'
const HINT = /^SignRequestError: .*\n.*name it in pathExec of the auth-provider externalSigner/

describe('a signer', () => {
  it('answers a request of the specification in one line, also with open handles', async () => {
    const path = signerWith({
      sign: "setInterval(() => {}, 1000); return Buffer.from('signature')",
    })
    expect(await runSigner(path, signRequest())).toEqual({ status: 0, out: ANSWER, err: '' })
  })

  it('answers a request of the 2020 protocol in that protocol', async () => {
    const path = signerWith({ certificate: `return ${JSON.stringify(pem)}` })
    const signed = await runSigner(path, signRequest({ kind: 'Sign' }))
    expect(JSON.parse(signed.out)).toMatchObject({ kind: 'ExternalSigner', signature: SIGNATURE })
    const certified = await runSigner(path, { ...certificateRequest(), kind: 'Certificate' })
    expect(JSON.parse(certified.out)).toMatchObject({ kind: 'ExternalPublicKey' })
  })

  it.each([
    ['PEM', (text: string) => `return ${JSON.stringify(text)}`],
    ['PEM as bytes', (text: string) => `return Buffer.from(${JSON.stringify(text)})`],
    [
      'DER',
      (text: string) =>
        `return Buffer.from('${new X509Certificate(text).raw.toString('base64')}', 'base64')`,
    ],
  ])('returns the first certificate of %s as DER', async (_, body) => {
    const { out } = await runSigner(signerWith({ certificate: body(pem) }), certificateRequest())
    expect(JSON.parse(out)).toEqual({
      apiVersion: VERSION,
      kind: 'CertificateResponse',
      certificate: new X509Certificate(pem).raw.toString('base64'),
    })
  })

  it('returns the whole chain to kubecred', async () => {
    const path = signerWith({ certificate: `return ${JSON.stringify(pem)}` })
    const { out } = await runSigner(path, certificateRequest(), { KUBECRED_SIGNER_FD: '99' })
    const chain = Buffer.from(JSON.parse(out).certificate, 'base64').toString()
    expect(chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
    expect(new X509Certificate(chain).subject).toBe('CN=jane')
  })

  it('receives the digest, the scheme and the configuration', async () => {
    const body = 'console.error(JSON.stringify({ scheme, digest, message, configuration }))'
    const path = signerWith({ sign: `${body}; return Buffer.from('x')` })
    const { err } = await runSigner(path, signRequest())
    expect(JSON.parse(err)).toMatchObject({
      scheme: 'rsa_pss_rsae_sha256',
      digest: { data: expect.arrayContaining([0x4e, 0xa4]) },
      configuration: { objectId: '2', pin: '123456' },
    })
  })

  it('receives the message if the client sends it', async () => {
    const path = signerWith({ sign: 'return message ?? Buffer.from("none")' })
    const message = Buffer.from('hello')
    const { createHash } = await import('node:crypto')
    const digest = createHash('sha256').update(message).digest('base64')
    const env = { KUBECRED_SIGNER_MESSAGE: message.toString('base64') }
    const sent = await runSigner(path, signRequest({ digest }), env)
    expect(JSON.parse(sent.out).signature).toBe(message.toString('base64'))
    const notSent = await runSigner(path, signRequest({ digest }))
    expect(Buffer.from(JSON.parse(notSent.out).signature, 'base64').toString()).toBe('none')
  })

  it('rejects a message that does not match the digest', async () => {
    const env = { KUBECRED_SIGNER_MESSAGE: Buffer.from('other').toString('base64') }
    const { status, out, err } = await runSigner(signerWith({}), signRequest(), env)
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain('message in the request to this signer does not match the digest')
  })

  it('does not pass the request on to child processes', async () => {
    const body = `
      const { spawnSync } = await import('node:child_process')
      const { stdout } = spawnSync(process.execPath, ['-p', 'JSON.stringify(process.env)'])
      return Buffer.from(/EXTERNAL_SIGNER|KUBECRED_SIGNER/.exec(stdout.toString())?.[0] ?? 'clean')`
    const env = { KUBECRED_SIGNER_FD: '9' }
    const { out } = await runSigner(
      signerWith({ sign: body, options: '{ longRunning: false }' }),
      signRequest(),
      env,
    )
    expect(Buffer.from(JSON.parse(out).signature, 'base64').toString()).toBe('clean')
  })

  it('can have synchronous handlers', async () => {
    const path = writeProgram(`import { runSigner } from 'kubecred/signer'
runSigner({ certificate: () => '', sign: () => Buffer.from('signature') })`)
    expect(await runSigner(path, signRequest())).toMatchObject({ status: 0, out: ANSWER })
  })

  it.each([
    ['console.log', "console.log('chatter')"],
    ['process.stdout.end', "process.stdout.end('chatter')"],
  ])('keeps standard output for the answer: %s', async (_, body) => {
    const path = signerWith({ sign: `${body}; return Buffer.from('signature')` })
    const { out, err } = await runSigner(path, signRequest())
    expect(out).toBe(ANSWER)
    expect(err).toContain('chatter')
  })
})

describe('a prompt', () => {
  const path = signerWith({
    sign: "await notify('Touch\\u001b[2J the\\n device'); return Buffer.from('signature')",
  })

  it('is written to standard error for other clients, which read one object', async () => {
    const { out, err } = await runSigner(path, signRequest())
    expect([out, err]).toEqual([ANSWER, 'TouchU+001B[2J the device\n'])
  })

  it('is sent through kubecred', async () => {
    const digest = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    const env = { KUBECRED_SIGNER_MESSAGE: '' }
    const { err } = await runSigner(path, signRequest({ digest }), env)
    expect(err).toContain('message in the request to this signer is empty')
    const prompted = await runSigner(path, signRequest(), { KUBECRED_SIGNER_FD: '99' })
    expect(
      prompted.out
        .split('\n')
        .filter(Boolean)
        .map((text) => JSON.parse(text)),
    ).toMatchObject([
      { kind: 'UserPrompt', prompt: 'TouchU+001B[2J the device' },
      { kind: 'SignResponse' },
    ])
  })

  it('is written to standard error for a client of 2020', async () => {
    const env = { KUBECRED_SIGNER_FD: '99' }
    const { out, err } = await runSigner(path, signRequest({ kind: 'Sign' }), env)
    expect(out.trim().split('\n')).toHaveLength(1)
    expect(err).toContain('the device')
  })
})

describe('a failure', () => {
  it.each([
    ['an error', "throw new Error('the device is locked')", 1, 'Error: the device is locked\n'],
    ['a status', "throw Object.assign(new Error('x'), { exitStatus: 7 })", 7, 'Error: x\n'],
    ['nothing', 'throw undefined', 1, 'Error: the signer threw undefined instead of an error\n'],
    [
      'a promise that never settles',
      'await new Promise(() => {})',
      1,
      'Error: the function of the signer waits for a promise that never settles\n',
    ],
  ])('is written to standard error: %s', async (_, sign, status, err) => {
    expect(await runSigner(signerWith({ sign }), signRequest())).toEqual({ status, out: '', err })
  })

  it.each([
    ['no signature', 'return undefined', 'returned no signature'],
    ['an empty one', 'return Buffer.alloc(0)', 'returned no signature'],
    ['text', "return 'signature'", 'returned no signature'],
    ['too much', 'return Buffer.alloc(5000)', 'returned a signature of more than 4096 bytes'],
  ])('is reported for an invalid result: %s', async (_, sign, words) => {
    const { status, out, err } = await runSigner(signerWith({ sign }), signRequest())
    expect([status, out]).toEqual([1, ''])
    expect(err).toMatch(/^SignerResponseInvalidError: the signer signer-\d+\.mjs /)
    expect(err).toContain(words)
  })

  it('is reported for r || s instead of DER', async () => {
    const ecdsa = signRequest({ signerOptsType: 'crypto.Hash', signerOpts: '5' })
    const raw = await runSigner(signerWith({ sign: 'return Buffer.alloc(64, 1)' }), ecdsa)
    expect(raw.err).toContain('Convert r || s with ecdsaToDer()')
    const der = await runSigner(signerWith({ sign: `return ${TWO_NUMBERS}` }), ecdsa)
    expect(der.status).toBe(0)
  })

  it('is reported if crypto.Hash options ask for PKCS#1 v1.5 with an RSA key', async () => {
    const { certificate, key } = await makeRsaPair()
    const path = signerWith({
      before: "import { sign } from 'node:crypto'",
      certificate: `return ${JSON.stringify(certificate)}`,
      sign: `return sign('sha256', message ?? digest, ${JSON.stringify(key)})`,
    })
    for (const signerOpts of ['5', '0']) {
      const request = signRequest({ signerOptsType: 'crypto.Hash', signerOpts })
      const { out, err } = await runSigner(path, request)
      expect(out).toBe('')
      expect(err).toMatch(/asks for PKCS#1 v1\.5 .* TLS 1\.3 does not allow it/)
      expect(err).not.toMatch(/ECDSA|Ed25519/)
    }
  })

  it.each(['return undefined', "return 'PEM'", 'return Buffer.from([1, 2, 3])'])(
    'is reported for an invalid certificate: %s',
    async (certificate) => {
      const { status, err } = await runSigner(signerWith({ certificate }), certificateRequest())
      expect(status).toBe(1)
      expect(err).toMatch(/^SignerCertificateError: .*\nReturn a Buffer with DER, or the text/)
    },
  )

  it('does not show a PIN, even if a library quotes it', async () => {
    const sign = "throw new Error('C_Login ' + configuration.pin + ' for ' + configuration.uri)"
    const configuration = { pin: '4711', uri: 'pkcs11:id=%02?pin-value=8%2015', pinFile: '/pin' }
    const { err } = await runSigner(signerWith({ sign }), signRequest({ configuration }))
    expect(err).toBe('Error: C_Login [secret] for pkcs11:id=%02?pin-value=[secret]\n')
  })

  it('has the status 2 and a hint if there is no request', async () => {
    for (const nothing of ['', ' ', undefined]) {
      const env = { EXTERNAL_SIGNER_PLUGIN_CONFIG: nothing }
      const { status, out, err } = await runSigner(signerWith({}), '', env)
      expect([status, out]).toEqual([2, ''])
      expect(err).toMatch(HINT)
      expect(err).toContain('Let a Kubernetes client start this signer')
    }
  })

  it('is reported if the client does not read the answer', async () => {
    const sign = "await new Promise((r) => setTimeout(r, 100)); return Buffer.from('x')"
    const signer = startSigner(signerWith({ sign }), signRequest())
    signer.child.stdout?.destroy()
    const { status, err } = await signer.ended()
    expect(status).toBe(1)
    expect(err).toContain('the client closed standard output before the answer')
  })

  it('is reported if a question is asked without a terminal', async () => {
    const sign = "return Buffer.from(await prompt('PIN: ', { secret: true }))"
    // A process in a new session has no controlling terminal.
    const before =
      "if (process.argv[2] !== 'child') {\n" +
      "const { spawnSync } = await import('node:child_process')\n" +
      "const { status } = spawnSync(process.execPath, [process.argv[1], 'child'], { detached: true, stdio: ['ignore', 1, 2] })\n" +
      'process.exit(status)\n}'
    const { status, err } = await runSigner(signerWith({ sign, before }), signRequest())
    expect(status).toBe(1)
    expect(err).toMatch(/^SignerFailedError: the signer .* cannot prompt: there is no terminal/)
  })
})

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends the signer with %i and without an answer', async (name, status) => {
    const sign = `
      console.error('ready')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      console.error(signal.reason.message)
      return Buffer.from('x')`
    const keeping = { before: 'setInterval(() => {}, 1000)' }
    const signer = startSigner(signerWith({ sign, ...keeping }), signRequest())
    await signer.until('err', /ready/)
    signer.child.kill(name)
    const err = `ready\nthe signer was stopped by ${name}\n`
    expect(await signer.ended()).toEqual({ status, out: '', err })
  })
})
