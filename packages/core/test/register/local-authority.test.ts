import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { afterAll, describe, expect, it } from 'vitest'
import { makeLocalAuthority } from '../../src/register/local-authority.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2030, 5, 1)
const hasOpenssl = spawnSync('openssl', ['version']).status === 0

const folder = mkdtempSync(join(tmpdir(), 'kubecred-authority-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the local certificate authority', () => {
  it('issues certificates for this machine, valid for a week', () => {
    const authority = makeLocalAuthority(() => NOW)
    const root = new X509Certificate(authority.certificate)
    const leaf = new X509Certificate(authority.issue().certificate)
    expect({ root: root.ca, leaf: leaf.ca }).toEqual({ root: true, leaf: false })
    expect(leaf.verify(root.publicKey)).toBe(true)
    expect(leaf.checkIssued(root)).toBe(true)
    expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(leaf.checkHost('localhost')).toBe('localhost')
    expect(leaf.checkHost('example.com')).toBeUndefined()
    expect(Date.parse(leaf.validTo) - NOW).toBe(7 * DAY_MS)
    expect(Date.parse(leaf.validFrom)).toBeLessThan(NOW)
  })

  it('creates a new key each time, and valid certificates', () => {
    const authority = makeLocalAuthority(() => NOW)
    const all = Array.from({ length: 50 }, () => authority.issue())
    const serials = all.map(({ certificate }) => new X509Certificate(certificate).serialNumber)
    expect(new Set(serials).size).toBe(50)
    expect(new Set(all.map(({ key }) => key)).size).toBe(50)
  })

  it('writes years after 2049 as GeneralizedTime', () => {
    const late = makeLocalAuthority(() => Date.UTC(2049, 11, 30))
    expect(new X509Certificate(late.issue().certificate).validTo).toMatch(/2050/)
  })

  it('is trusted only by a TLS client that has its certificate', async () => {
    const authority = makeLocalAuthority(() => Date.now())
    const { certificate, key } = authority.issue()
    const server = createServer({ cert: certificate, key }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const outcome = (ca: string): Promise<string> =>
      new Promise((resolve) => {
        const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca }, () => {
          socket.destroy()
          resolve('trusted')
        })
        socket.on('error', ({ message }) => resolve(message))
      })
    expect(await outcome(authority.certificate)).toBe('trusted')
    const other = makeLocalAuthority(() => Date.now()).certificate
    expect(await outcome(other)).not.toBe('trusted')
    await new Promise((resolve) => server.close(resolve))
  })

  it.skipIf(!hasOpenssl)('passes the strict verification of OpenSSL', () => {
    const authority = makeLocalAuthority(() => Date.now())
    writeFileSync(join(folder, 'ca.pem'), authority.certificate)
    writeFileSync(join(folder, 'leaf.pem'), authority.issue().certificate)
    const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_ip', '127.0.0.1']
    const { status, stdout, stderr } = spawnSync('openssl', [
      ...args,
      ...['-CAfile', join(folder, 'ca.pem'), join(folder, 'leaf.pem')],
    ])
    expect(`${stdout}${stderr}`).toContain('OK')
    expect(status).toBe(0)
  })
})
