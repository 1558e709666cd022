import { spawnSync } from 'node:child_process'
import { constants, createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makePair } from '../../fixtures/make-certificates.ts'
import { certificateRequest, runSigner, signRequest, writeProgram } from './spawn-signer.ts'

const root = new URL('../../../../../', import.meta.url)
const EXAMPLE = fileURLToPath(new URL('examples/signer/signer.mjs', root))
const page = readFileSync(new URL('docs/signer-author.md', root), 'utf8')
const hasOpenssl = spawnSync('openssl', ['version']).status === 0

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-signer-page-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const message = Buffer.from('message')
const padding = constants.RSA_PKCS1_PSS_PADDING

describe.skipIf(!hasOpenssl)('examples/signer (needs openssl)', () => {
  it.each([
    ['rsa', '*rsa.PSSOptions', '{"SaltLength":-1,"Hash":5}', 'sha256'],
    ['P-256', 'crypto.Hash', '5', 'sha256'],
    ['P-384', 'crypto.Hash', '6', 'sha384'],
  ])('signs with a key of type %s', async (kind, signerOptsType, signerOpts, hash) => {
    const { privateKey } =
      kind === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: kind })
    const key = join(folder, `${kind}.key`)
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    const digest = createHash(hash).update(message).digest('base64')
    const request = signRequest({ digest, signerOptsType, signerOpts, configuration: { key } })
    const { out, err } = await runSigner(EXAMPLE, request)
    expect(err).toBe('')
    const how = { key: createPublicKey(privateKey), padding, saltLength: 32 }
    const signature = Buffer.from(JSON.parse(out).signature, 'base64')
    expect(verify(hash, message, kind === 'rsa' ? how : how.key, signature)).toBe(true)
  })

  it('returns its certificate', async () => {
    const certificate = join(folder, 'certificate')
    writeFileSync(certificate, (await makePair()).certificate)
    const { status } = await runSigner(EXAMPLE, certificateRequest({ certificate }))
    expect(status).toBe(0)
  })

  it('reports the error of OpenSSL', async () => {
    const request = signRequest({ configuration: { key: '/nowhere' } })
    const { status, err } = await runSigner(EXAMPLE, request)
    expect(status).toBe(1)
    expect(err).toContain('/nowhere')
  })
})

describe('docs/signer-author.md', () => {
  const [, source = ''] = /^```js signer\n([\s\S]*?)^```/m.exec(page) ?? []

  it('has a signer that works as printed', async () => {
    const { certificate, key } = await makePair()
    const env = { MY_CERTIFICATE: join(folder, 'my.crt'), MY_KEY: join(folder, 'my.key') }
    writeFileSync(env.MY_CERTIFICATE, certificate)
    writeFileSync(env.MY_KEY, key)
    const path = writeProgram(source)
    const digest = createHash('sha256').update(message).digest('base64')
    const request = signRequest({ digest, signerOptsType: 'crypto.Hash', signerOpts: '5' })
    const withMessage = { ...env, KUBECRED_SIGNER_MESSAGE: message.toString('base64') }
    const { out, err } = await runSigner(path, request, withMessage)
    expect(err).toBe('')
    const signature = Buffer.from(JSON.parse(out).signature, 'base64')
    expect(verify('sha256', message, createPublicKey(key), signature)).toBe(true)
    expect((await runSigner(path, request, env)).err).toContain(
      'the client did not send the message',
    )
  })

  it('has a program that tries it in the sandbox and works as printed', async () => {
    const [, program = ''] = /^```ts try-signer\n([\s\S]*?)^```/m.exec(page) ?? []
    const signer = join(folder, 'my-signer.mjs')
    copyFileSync(writeProgram(source), signer)
    chmodSync(signer, 0o755)
    const path = join(folder, 'try-signer.ts')
    writeFileSync(path, program)
    const log = vi.spyOn(console, 'log').mockReturnValue()
    await import(/* @vite-ignore */ path)
    expect(log.mock.calls).toEqual([['jane']])
    log.mockRestore()
    // docs/sandbox.md shows a part of it.
    const sandboxPage = readFileSync(new URL('docs/sandbox.md', root), 'utf8')
    const [, part = ''] =
      /## Try a signer in it[\s\S]*?```ts\n([\s\S]*?)^```/m.exec(sandboxPage) ?? []
    expect(part).not.toBe('')
    expect(program).toContain(part)
  })

  it('is short', () => {
    expect(page.split('\n').length).toBeLessThanOrEqual(135)
  })
})
