import { createPrivateKey, sign as signWith } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, connect } from 'kubecred'
import { type SigningRequest, Vault } from 'kubecred/vault'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const HANDSHAKE_FAILURE = 40
const ACCESS_DENIED = 49

let sandbox: Sandbox
let server: Server
let url: string
let alert = HANDSHAKE_FAILURE

beforeAll(async () => {
  sandbox = await startSandbox()
  // Answers the ClientHello with an alert: as a server with which nothing is in common, or a firewall.
  server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, alert])))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  await sandbox.close()
})

const outcome = async (options: ConnectOptions): Promise<unknown> => {
  await using cluster = await connect(options)
  return await cluster.fetch('/version').catch((error: unknown) => error)
}

const blames = (name: string) => ({
  code: 'ERR_SERVER_UNREACHABLE',
  message: `connection to ${url} failed: it ended the TLS handshake with the alert "${name}" before the client sent a certificate`,
})

describe.each(['pool', 'https'] as const)(
  'a TLS alert before our certificate (%s)',
  (transport) => {
    it.each([
      [HANDSHAKE_FAILURE, 'handshake failure'],
      [ACCESS_DENIED, 'access denied'],
    ])('%i does not count as a refusal of it', async (number, name) => {
      alert = number
      const pair = await sandbox.issueCertificate({ user: 'jane' })
      const users = [pair, { token: 'a-token' }]
      for (const user of users) {
        const kubeconfig = sandbox.writeKubeconfig({ user })
        expect(await outcome({ kubeconfig, server: url, transport })).toMatchObject(blames(name))
      }
    })

    it('does not count either with a signer, and nothing is signed', async () => {
      alert = HANDSHAKE_FAILURE
      const { certificate, key } = await sandbox.issueCertificate({ user: 'jane' })
      let signatures = 0
      const signingKey = {
        async sign({ message }: SigningRequest) {
          signatures += 1
          return signWith('sha256', message, createPrivateKey(key))
        },
      }
      const vault = new Vault()
      vault.onLogin(() => ({
        server: url,
        caData: sandbox.caPem,
        certificateData: certificate,
        signingKey,
      }))
      expect(await outcome({ vault, transport })).toMatchObject(blames('handshake failure'))
      expect(signatures).toBe(0)
    })
  },
)
