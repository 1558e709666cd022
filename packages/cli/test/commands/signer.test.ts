import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SignerFixture } from '../../../core/test/fixtures/signer-fixture.ts'
import { makeAuthority } from '../../../core/test/tls/identities.ts'
import { type FakeOptions, runFake } from '../run-fake.ts'
import { makeSigner, writeSignerConfig } from './signer-user.ts'

let sandbox: Sandbox
let signer: SignerFixture
beforeAll(async () => {
  sandbox = await startSandbox()
})
beforeEach(async () => {
  signer = await makeSigner(sandbox)
})
afterEach(() => signer[Symbol.asyncDispose]())
afterAll(() => sandbox.close())

const ONCE = ['CertificateRequest by variable', 'SignRequest by line']

async function run(
  argv: readonly string[],
  more: Readonly<Record<string, string>> = {},
  options: FakeOptions = {},
) {
  const kubeconfig = writeSignerConfig(sandbox, signer, more)
  const outcome = await runFake([...argv, '--kubeconfig', kubeconfig], options)
  expect(outcome.out + outcome.err).not.toContain('marked-pin')
  return outcome
}

/** The findings of doctor, by step. */
async function examine(more: Readonly<Record<string, string>> = {}, options: FakeOptions = {}) {
  const { out, status } = await run(['doctor', '-o', 'json'], more, options)
  const { findings } = JSON.parse(out) as { findings: { step: string }[] }
  return { status, found: Object.fromEntries(findings.map((each) => [each.step, each])) }
}

describe('a user with an external signer', () => {
  it('is shown by whoami, with one signature', async () => {
    const { status, out, err } = await run(['whoami'])
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(out).toMatch(/^user:\s+jane$/m)
    expect(out).toMatch(/^through:.*signer/m)
    expect(signer.asked()).toEqual(ONCE)
  })

  it('can use fetch, with one signature', async () => {
    const { status, out } = await run(['fetch', '/api/v1/namespaces'])
    expect(status).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ kind: 'NamespaceList' })
    expect(sandbox.requests.at(-1)?.user).toBe('jane')
    expect(signer.asked()).toEqual(ONCE)
  })

  it('sees the prompt of the signer', async () => {
    const { status, err } = await run(['whoami'], { behaviour: 'prompts', only: 'signature' })
    expect(status).toBe(0)
    expect(err).toContain('Touch the device')
  })
})

describe('kubecred doctor with an external signer', () => {
  it('finds no problem with a working one, which signs once', async () => {
    const { status, found } = await examine()
    expect(status).toBe(0)
    expect(found).toMatchObject({
      method: {
        verdict: 'ok',
        summary: `external signer ${JSON.stringify(signer.program)}`,
        details: ['TLS 1.3 only: a signer cannot sign other handshakes'],
      },
      policy: { verdict: 'ok' },
      plugin: { verdict: 'ok', summary: signer.program },
      credential: {
        verdict: 'ok',
        summary: expect.stringContaining('certificate with an external key'),
      },
      identity: { verdict: 'ok', summary: 'jane' },
    })
    expect(signer.asked()).toEqual(ONCE)
  })

  it('names TLS 1.3 if the server does not support it', async () => {
    const authority = await makeAuthority()
    const { chain: cert, key } = await authority.server('P-256')
    const server = createServer({ cert, key, maxVersion: 'TLSv1.2' }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const place = { url: `https://localhost:${port}`, caPem: authority.ca }
    const kubeconfig = writeSignerConfig(place, signer)
    const { status, out } = await runFake(['doctor', '--kubeconfig', kubeconfig])
    server.close()
    expect(status).toBe(59)
    expect(out).toMatch(
      /✗ tls\s+the server negotiated TLS 1\.2, and a signer signs TLS 1\.3 handshakes only/,
    )
    expect(out).toContain('→ Enable TLS 1.3 on the server')
  })

  it.each([
    ['kubecred-pkcs11', 'npm install --global @kubecred/pkcs11'],
    ['some-other-signer', 'Install the signer, or set pathExec of the user entry'],
  ])('says how to get one that is missing: %s', async (pathExec, remedy) => {
    const { status, found } = await examine({ pathExec }, { env: { PATH: signer.folder } })
    expect(found).toMatchObject({
      plugin: {
        verdict: 'error',
        code: 'ERR_PLUGIN_NOT_FOUND',
        remedy: expect.stringContaining(remedy),
      },
      credential: { verdict: 'skipped', summary: 'skipped: the signer cannot run' },
      tls: { verdict: 'ok' },
      identity: { verdict: 'skipped' },
    })
    expect(status).not.toBe(0)
  })

  it('reports one that may not run', async () => {
    const kuberc = join(signer.folder, 'kuberc')
    const policy = { credentialPluginPolicy: 'DenyAll' }
    const head = { apiVersion: 'kubectl.config.k8s.io/v1beta1', kind: 'Preference' }
    writeFileSync(kuberc, JSON.stringify({ ...head, ...policy }))
    const { found } = await examine({}, { env: { KUBERC: kuberc } })
    expect(found).toMatchObject({
      policy: { verdict: 'error', code: 'ERR_PLUGIN_DENIED' },
      credential: { verdict: 'skipped' },
    })
    expect(signer.asked()).toEqual([])
  })

  it('reports one that is not a program', async () => {
    chmodSync(signer.program, 0o644)
    const { found } = await examine()
    expect(found).toMatchObject({
      plugin: { verdict: 'error', code: 'ERR_PLUGIN_NOT_EXECUTABLE' },
      credential: { verdict: 'skipped', summary: 'skipped: the signer cannot run' },
    })
  })

  it.each([
    ['certificate', 'credential'],
    ['signature', 'identity'],
  ])('shows the message of one that fails with the %s', async (only, step) => {
    const { found } = await examine({ behaviour: 'fails', only })
    expect(found[step]).toMatchObject({ verdict: 'error', code: 'ERR_SIGNER_FAILED' })
    expect(found[step]).toMatchObject({ summary: expect.stringContaining('status 7') })
  })
})
