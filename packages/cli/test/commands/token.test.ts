import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KubeconfigUser, type Sandbox, startSandbox } from '@kubecred/sandbox'
import { CODES } from 'kubecred/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeOptions, runFake } from '../run-fake.ts'
import { makeSigner, writeSignerConfig } from './signer-user.ts'

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

const tokenOf = (user: KubeconfigUser, argv: string[] = [], options: FakeOptions = {}) =>
  runFake(['token', '--kubeconfig', sandbox.writeKubeconfig({ user }), ...argv], options)

describe('kubecred token', () => {
  it('prints the credential of a plugin, with its expiry in whole seconds', async () => {
    const exec = await sandbox.plugin({ user: 'jane', credential: 'both', lifetimeMs: 600_000 })
    const { status, out, err } = await tokenOf({ exec })
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(JSON.parse(out)).toEqual({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      spec: { interactive: false },
      status: {
        token: expect.stringMatching(/^sandbox-/),
        clientCertificateData: expect.stringContaining('BEGIN CERTIFICATE'),
        clientKeyData: expect.stringContaining('BEGIN PRIVATE KEY'),
        expirationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    })
  })

  it('prints an expiry beyond the year 9999 as the last second of RFC 3339', async () => {
    const encode = (data: object): string => Buffer.from(JSON.stringify(data)).toString('base64url')
    const token = `${encode({ alg: 'none' })}.${encode({ exp: 1e12 })}.c2ln`
    const answer = {
      apiVersion: 'client.authentication.k8s.io/v1alpha1',
      kind: 'ExecCredentials',
      token,
      expiry: 1e12,
    }
    const command = join(sandbox.folder, 'far-future')
    writeFileSync(command, `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`, { mode: 0o755 })
    const { out } = await tokenOf({ exec: { command, apiVersion: answer.apiVersion } })
    expect(JSON.parse(out).status.expirationTimestamp).toBe('9999-12-31T23:59:59Z')
  })

  it('sends no request', async () => {
    const before = sandbox.requests.length
    await tokenOf({ token: 'abc' })
    expect(sandbox.requests).toHaveLength(before)
  })

  it('omits the expiry if there is none', async () => {
    const { out } = await tokenOf({ token: 'abc' })
    expect(JSON.parse(out).status).toEqual({ token: 'abc' })
  })

  it('prints v1beta1 with --api-version', async () => {
    const { out } = await tokenOf({ token: 'abc' }, ['--api-version', 'v1beta1'])
    expect(JSON.parse(out).apiVersion).toBe('client.authentication.k8s.io/v1beta1')
    expect((await tokenOf({ token: 'abc' }, ['--api-version', 'v2'])).status).toBe(2)
  })

  it('warns on a terminal that the output is a secret', async () => {
    const { err } = await tokenOf({ token: 'abc' }, [], { terminal: true, env: { NO_COLOR: '1' } })
    expect(err).toMatch(/^Warning: the output is a secret/)
  })

  it.each([
    [{ username: 'bob', password: 'marked-password' }, 'username and password'],
    [{}, 'no credential (anonymous)'],
  ])('has nothing to print for %j', async (user, reason) => {
    const { status, out, err } = await tokenOf(user)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain(reason)
    expect(err).not.toContain('marked-password')
  })

  it('rejects a key that is not exportable, and requests no signature', async () => {
    await using signer = await makeSigner(sandbox)
    const { status, out, err } = await runFake([
      'token',
      '--kubeconfig',
      writeSignerConfig(sandbox, signer),
    ])
    expect({ status, out }).toEqual({ status: CODES.ERR_NOT_SUPPORTED.exit, out: '' })
    expect(err).toContain('the private key of this user is not exportable')
    expect(err).toContain('kubecred run -- kubectl get pods')
    expect(err).not.toContain('marked-pin')
    expect(signer.asked()).toEqual(['CertificateRequest by variable'])
  })

  it.each(['{}', ''])('does not run as a plugin (KUBERNETES_EXEC_INFO=%j)', async (info) => {
    const exec = await sandbox.plugin({ user: 'jane' })
    sandbox.resetPluginRuns()
    const { status, out, err } = await tokenOf({ exec }, [], {
      env: { KUBERNETES_EXEC_INFO: info },
    })
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain('bypass the plugin policy')
    expect(sandbox.pluginRuns).toBe(0)
  })
})
