import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasSoftHsm, PIN, SoftHsm } from '../soft-token.ts'
import { certificateRequest, isGoodSignature, signRequest, start } from '../spawn-signer.ts'

let hsm: SoftHsm
let socket: string
beforeAll(() => {
  if (!hasSoftHsm) return
  hsm = new SoftHsm()
  hsm.addToken('kube')
  hsm.addKey('kube', { type: 'EC:prime256v1', id: '02', label: 'work' })
  hsm.addCertificate('kube', '02')
  mkdirSync(join(hsm.folder, 'run'), { mode: 0o700 })
  socket = join(hsm.folder, 'run', 'socket')
}, 60_000)
afterAll(() => hsm?.[Symbol.dispose]())

async function ask(...requests: object[]): Promise<Record<string, string>[]> {
  const client = connect(socket)
  const lines = createInterface(client)[Symbol.asyncIterator]()
  for (const request of requests) client.write(`${JSON.stringify(request)}\n`)
  const answers: Record<string, string>[] = []
  for (const _ of requests) answers.push(JSON.parse((await lines.next()).value as string))
  client.destroy()
  return answers
}

describe.skipIf(!hasSoftHsm)('serve', () => {
  it('logs in once and signs for every client of the socket', async () => {
    const { library, environment } = hsm.spied
    const args = ['--socket', socket, '--lib', library, '--token-label', 'kube', '--object-id', '2']
    const server = start(['serve', ...args], { ...environment, KUBECRED_PKCS11_PIN: PIN })
    await server.until('err', /Signing at/)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    const scheme = 'ecdsa_secp256r1_sha256'
    // The configuration that a client sends is ignored: neither its key nor its library is used.
    const configuration = { pathSocket: socket, pathLib: '/tmp/evil.so', objectId: '9' }
    const key = hsm.publicKey('kube', '02')
    for (let count = 0; count < 3; count += 1) {
      const [certificate, signed] = await ask(
        certificateRequest(configuration),
        signRequest(scheme, configuration),
      )
      expect(certificate).toMatchObject({ kind: 'CertificateResponse' })
      expect(isGoodSignature(scheme, key, signed?.['signature'] ?? '')).toBe(true)
    }
    const ended = server.ended()
    server.child.kill('SIGTERM')
    expect(await ended).toMatchObject({ status: 0, out: '' })
    expect(existsSync(socket)).toBe(false)
    expect(hsm.callsOf('C_Login')).toBe(1)
  })

  it('does not listen when the PIN is wrong', async () => {
    const { library, environment } = hsm.spied
    const args = ['--socket', socket, '--lib', library]
    const server = start(['serve', ...args], { ...environment, KUBECRED_PKCS11_PIN: '654321' })
    expect(await server.ended()).toMatchObject({
      status: 1,
      err: expect.stringContaining('the PIN is wrong'),
    })
    expect(existsSync(socket)).toBe(false)
  })

  it('rejects a folder that other users can access', async () => {
    const { library, environment } = hsm.spied
    const open = join(hsm.folder, 'open')
    mkdirSync(open)
    chmodSync(open, 0o755)
    const args = ['--socket', join(open, 'socket'), '--lib', library]
    const server = start(['serve', ...args], { ...environment, KUBECRED_PKCS11_PIN: PIN })
    const { status, err } = await server.ended()
    expect(status).toBe(1)
    expect(err).toContain('its folder is accessible to other users')
  })

  it('does not open a debugger on SIGUSR1', async () => {
    const { library, environment } = hsm.spied
    const args = ['--socket', socket, '--lib', library]
    const server = start(['serve', ...args], { ...environment, KUBECRED_PKCS11_PIN: PIN })
    await server.until('err', /Signing at/)
    server.child.kill('SIGUSR1')
    await ask(certificateRequest({}))
    server.child.kill('SIGINT')
    await once(server.child, 'exit')
    expect(server.err).not.toContain('Debugger')
  })
})
