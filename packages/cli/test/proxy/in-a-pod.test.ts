import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { makePair } from '../../../core/test/fixtures/make-certificates.ts'
import { Home } from '../run/home.ts'
import { Served } from './proxy-process.ts'

let sandbox: Sandbox
let home: Home
let folder: string
beforeAll(async () => {
  sandbox = await startSandbox()
})
beforeEach(() => {
  home = new Home()
  folder = mkdtempSync(join(tmpdir(), 'kubecred-pod-'))
})
afterEach(async () => {
  await home[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})
afterAll(() => sandbox.close())

const start = (kubeconfig: string, ...args: string[]): Promise<Served> =>
  Served.start(home, ['--kubeconfig', kubeconfig, '--port', '0', '--no-page', ...args])

async function probe(served: Served, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${served.said.healthPort}${path}`)
  return `${response.status} ${await response.text()}`
}

describe('the health endpoint of a proxy', () => {
  it('needs no secret, and reports live, and ready once there is a credential', async () => {
    const plugin = { user: 'jane', exitCode: 1, stdout: '' }
    const exec = await sandbox.plugin(plugin)
    const served = await start(sandbox.writeKubeconfig({ user: { exec } }), '--health-port', '0')
    expect(await probe(served, '/livez')).toBe('200 ok\n')
    expect(await probe(served, '/readyz')).toBe('503 not ready\n')
    expect(await probe(served, '/api')).toBe('404 not found\n')
    await served.end()
    const { token } = sandbox.issueToken({ user: 'jane' })
    const good = await start(sandbox.writeKubeconfig({ user: { token } }), '--health-port', '0')
    expect(await probe(good, '/readyz')).toBe('200 ok\n')
    expect(await good.end()).toBe(0)
  })

  it('reports not ready from the signal on, while a watch may still finish', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const served = await start(kubeconfig, '--health-port', '0', '--shutdown-grace', '30s')
    const watch = await served.open('/api/v1/namespaces?watch=true')
    watch.resume().on('error', () => {})
    served.running.child.kill('SIGTERM')
    await vi.waitFor(
      async () => expect(await probe(served, '/readyz')).toBe('503 not ready\n'),
      10_000,
    )
    expect(await probe(served, '/livez')).toBe('200 ok\n')
    watch.destroy()
    expect(await served.running.end()).toBe(0)
  })
})

describe('the metrics of a proxy without a page', () => {
  it('are on the port of the probes', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const served = await start(kubeconfig, '--health-port', '0', '--metrics')
    expect(served.said.metrics).toBe(`http://127.0.0.1:${served.said.healthPort}/metrics`)
    expect(await served.status('/version')).toBe(200)
    const metrics = await probe(served, '/metrics')
    expect(metrics).toMatch(/^200 /)
    expect(metrics).toMatch(/^kubecred_proxy_requests_total\{method="GET",code="200",.*\} 1$/m)
    expect(metrics).not.toContain(token)
    expect(await served.end()).toBe(0)
  })

  it('are not there without --metrics', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const served = await start(sandbox.writeKubeconfig({ user: { token } }), '--health-port', '0')
    expect(await probe(served, '/metrics')).toBe('404 not found\n')
    expect(await served.end()).toBe(0)
  })

  it('are on the page only, if there is one', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const args = ['--kubeconfig', kubeconfig, '--port', '0', '--health-port', '0', '--metrics']
    const served = await Served.start(home, args)
    expect(await probe(served, '/metrics')).toBe('404 not found\n')
    expect(await served.end()).toBe(0)
  })
})

describe('the secret file of a proxy', () => {
  const [first, second] = ['first-secret-0123456789', 'second-secret-0123456789']
  const status = (served: Served, secret: string): Promise<number | undefined> =>
    served.status('/version', { headers: { authorization: `Bearer ${secret}` } })

  it('is read again when it changes; a bad one leaves the old secret in use', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const file = home.write('secret', first)
    const served = await start(kubeconfig, '--secret-file', file)
    expect(await status(served, first)).toBe(200)
    expect(await status(served, second)).toBe(401)
    // Both, while clients change.
    home.write('secret', `${second}\n${first}\n`)
    await vi.waitFor(async () => expect(await status(served, second)).toBe(200), 20_000)
    expect(await status(served, first)).toBe(200)
    home.write('secret', second)
    await vi.waitFor(async () => expect(await status(served, first)).toBe(401), 20_000)
    expect(served.secret).toEqual({ Authorization: `Bearer ${second}` })
    for (const [bad, reason] of [
      ['', /the old secret stays in use: .*--secret-file cannot be used: a secret must be 20/],
      [`${first}\n`.repeat(3), /the old secret stays in use: .*it has more than two lines/],
    ] as const) {
      home.write('secret', bad)
      await served.running.until('err', reason)
      expect(await status(served, second)).toBe(200)
      expect(await status(served, first)).toBe(401)
    }
    expect(await served.end()).toBe(0)
    expect(served.running.err).not.toMatch(/-secret-0123/)
  })
})

describe('a proxy that receives a signal to end', () => {
  it('serves during its delay, but is not ready, and closes connections', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const served = await start(kubeconfig, '--health-port', '0', '--shutdown-delay', '10m')
    served.running.child.kill('SIGTERM')
    await served.running.until('err', /Serving for 600 s more, but not ready\./)
    expect(await probe(served, '/readyz')).toBe('503 not ready\n')
    const response = await served.open('/version', { headers: { connection: 'keep-alive' } })
    expect(response.resume().statusCode).toBe(200)
    expect(response.headers.connection).toBe('close')
    // A second signal ends the delay.
    expect(await served.end()).toBe(0)
  })
})

describe('a proxy with its own certificate', () => {
  const write = async (): Promise<string> => {
    const { certificate, key } = await makePair()
    writeFileSync(join(folder, 'tls.key'), key, { mode: 0o600 })
    writeFileSync(join(folder, 'tls.crt'), certificate)
    return new X509Certificate(certificate).fingerprint256
  }
  const flags = (): string[] => [
    `--tls-cert-file=${join(folder, 'tls.crt')}`,
    `--tls-key-file=${join(folder, 'tls.key')}`,
  ]
  const shown = async (port: number): Promise<string> => {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { fingerprint256 } = socket.getPeerCertificate()
    socket.destroy()
    return fingerprint256
  }

  it('serves over TLS, and reloads a renewed certificate', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const first = await write()
    const served = await start(sandbox.writeKubeconfig({ user: { token } }), ...flags())
    expect(served.said.url).toMatch(/^https:/)
    const { port } = served.said
    expect(await shown(port)).toBe(first)
    const options = { port, path: '/version', rejectUnauthorized: false, headers: served.secret }
    const [response] = await once(get({ host: '127.0.0.1', ...options }), 'response')
    expect(response.resume().statusCode).toBe(200)
    const second = await write()
    await vi.waitFor(async () => expect(await shown(port)).toBe(second), 20_000)
    // A certificate without its key is not used; the old pair stays.
    writeFileSync(join(folder, 'tls.crt'), (await makePair()).certificate)
    await served.running.until('err', /the old certificate stays in use: .*is not the key of/)
    expect(await shown(port)).toBe(second)
    expect(await served.end()).toBe(0)
  })

  it('says what is wrong with its files', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const fails = async (): Promise<string> => {
      const running = home.start(['proxy', '--kubeconfig', kubeconfig, '--port', '0', ...flags()])
      expect(await running.end()).toBe(2)
      return running.err
    }
    expect(await fails()).toContain('--tls-cert-file cannot be used: there is no such file')
    await write()
    writeFileSync(join(folder, 'tls.key'), 'garbage')
    expect(await fails()).toContain('--tls-key-file cannot be used: it is not a private key')
  })
})
