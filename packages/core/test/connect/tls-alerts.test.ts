import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

// Node's own TLS server never refuses a certificate with an alert: it closes the connection instead.
// OpenSSL's does, like Go's and nginx's. In CI a missing openssl is a failure, see tools/system-packages.mjs.
const hasOpenssl = spawnSync('openssl', ['version']).status === 0

let sandbox: Sandbox
let server: ChildProcess
let url: string

beforeEach(async () => {
  sandbox = await startSandbox()
  const { certificate, key } = await sandbox.issueCertificate({ user: 'server' })
  const file = (name: string, content: string): string => {
    const path = join(sandbox.folder, name)
    writeFileSync(path, content)
    return path
  }
  const files = [
    '-cert',
    file('cert.pem', certificate),
    '-key',
    file('key.pem', key),
    '-CAfile',
    file('ca.pem', sandbox.clientCaPem),
  ]
  server = spawn('openssl', [
    's_server',
    '-accept',
    '127.0.0.1:0',
    '-www',
    '-Verify',
    '1',
    '-verify_return_error',
    ...files,
  ])
  server.stderr?.resume()
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    const address = /^ACCEPT (\S+)/.exec(line)?.[1]
    if (address === undefined) continue
    url = `https://${address}`
    break
  }
  server.stdout?.resume()
})
afterEach(async () => {
  server.kill('SIGKILL')
  await once(server, 'exit')
  await sandbox.close()
})

const answer = (pair: { certificate: string; key: string }) =>
  JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { clientCertificateData: pair.certificate, clientKeyData: pair.key },
  })

/** A plugin that gives its first answer once and the second after that. */
function makePlugin(first: string, second: string): string {
  const folder = join(sandbox.folder, 'plugin')
  mkdirSync(folder)
  writeFileSync(join(folder, 'answer'), first)
  writeFileSync(join(folder, 'second'), second)
  const script = `#!/bin/sh\ncat '${folder}/answer'\ncp '${folder}/second' '${folder}/answer'\n`
  writeFileSync(join(folder, 'plugin'), script, { mode: 0o700 })
  return join(folder, 'plugin')
}

describe.runIf(hasOpenssl).each(['pool', 'https'] as const)(
  'a certificate refused by an alert (%s)',
  (transport) => {
    const options = { insecureSkipTlsVerify: true, transport }

    it('is replaced, and the request is sent again', async () => {
      const bad = await sandbox.issueCertificate({ user: 'jane', untrusted: true })
      const good = await sandbox.issueCertificate({ user: 'jane' })
      const command = makePlugin(answer(bad), answer(good))
      const kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command } } })
      await using cluster = await connect({ kubeconfig, server: url, ...options })
      expect((await cluster.fetch('/version')).status).toBe(200)
      expect(cluster.status().credential.runs).toBe(2)
    })

    it('is distinguished from one that was not sent', async () => {
      const kubeconfig = sandbox.writeKubeconfig({ user: { token: 'a-token' } })
      await using cluster = await connect({ kubeconfig, server: url, ...options })
      await expect(cluster.fetch('/version')).rejects.toMatchObject({
        code: 'ERR_CERTIFICATE_REFUSED',
        message: `${url} requires a client certificate, but none was sent (certificate required)`,
      })
    })

    it('is an error that says so if it is refused again after one more run', async () => {
      const [one, two] = await Promise.all(
        [1, 2].map(() => sandbox.issueCertificate({ user: 'jane', untrusted: true })),
      )
      if (one === undefined || two === undefined) throw new Error('no certificate')
      const command = makePlugin(answer(one), answer(two))
      const kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command } } })
      await using cluster = await connect({ kubeconfig, server: url, ...options })
      await expect(cluster.fetch('/version')).rejects.toMatchObject({
        code: 'ERR_CERTIFICATE_REFUSED',
        message: expect.stringMatching(/rejected the client certificate \(\w/),
      })
      expect(cluster.status().credential.runs).toBe(2)
    })
  },
)
