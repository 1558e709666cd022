import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuthority } from '../../../../sandbox/src/certificates/authority.ts'
import { issueServerCertificate } from '../../../../sandbox/src/certificates/server-certificate.ts'
import { proxyUrl, startConnectProxy } from '../../fixtures/proxies.ts'

let sandbox: Sandbox

beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const create = (name: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ metadata: { name } }),
})

describe('a certificate that is replaced', () => {
  it('keeps the connection of a watch open, and new requests use a new connection', async () => {
    const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    await using cluster = await connect({ kubeconfig, transport: 'http2' })
    const watch = await cluster.fetch(`${CONFIGMAPS}?watch=true`)
    const reader = (watch.body as ReadableStream<Uint8Array>).getReader()
    const old = sandbox.requests.at(-1)?.connection
    sandbox.revokeCertificates('jane')
    expect((await cluster.fetch(CONFIGMAPS, create('first'))).status).toBe(201)
    const before = sandbox.requests.length
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await cluster.fetch('/version')).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    const after = sandbox.requests.slice(before)
    expect(after).toHaveLength(30)
    expect(after.map(({ connection }) => connection)).not.toContain(old)
    expect(new Set(after.map(({ user }) => user))).toEqual(new Set(['jane']))
    // The old connection still carries the watch, and nothing else keeps it.
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('"first"')
    const open = sandbox.connections.open
    await reader.cancel()
    await expect.poll(() => sandbox.connections.open).toBe(open - 1)
  })
})

describe('a server that restarts', () => {
  it('is reached again by the next request, and its watches end with an error', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    await using cluster = await connect({ kubeconfig, transport: 'http2' })
    const watch = await cluster.fetch(`${CONFIGMAPS}?watch=true`)
    const read = watch.text()
    await Promise.all([sandbox.restart(), expect(read).rejects.toThrow()])
    expect((await cluster.fetch('/version')).status).toBe(200)
    expect((await cluster.fetch(CONFIGMAPS, create('after'))).status).toBe(201)
  })
})

describe('a program with an idle connection', () => {
  const program = fileURLToPath(new URL('../../fixtures/makes-request.mjs', import.meta.url))

  async function run(options: object, env: object = {}): Promise<string[]> {
    const argument = JSON.stringify({ ...options, transport: 'http2' })
    const child = spawn(process.execPath, [program, argument], {
      env: { ...process.env, ...env },
    })
    return Promise.all([text(child.stdout), text(child.stderr)])
  }

  it('ends by itself', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    expect(await run({ kubeconfig: sandbox.writeKubeconfig({ user: { token } }) })).toEqual([
      '200',
      '',
    ])
  })

  it('ends by itself behind an https proxy', async () => {
    const authority = await createAuthority('proxy')
    const tls = await issueServerCertificate(authority)
    const ca = join(sandbox.folder, 'proxy-ca.pem')
    writeFileSync(ca, authority.certificate)
    await using proxy = await startConnectProxy({ to: Number(new URL(sandbox.url).port), tls })
    const { token } = sandbox.issueToken({ user: 'jane' })
    const server = 'https://kubernetes.default.svc:6443'
    const behind = { server, token, insecureSkipTlsVerify: true }
    const options = { ...behind, proxyUrl: proxyUrl('https', proxy.port) }
    expect(await run(options, { NODE_EXTRA_CA_CERTS: ca })).toEqual(['200', ''])
    expect(proxy.asked).toHaveLength(1)
  })
})
