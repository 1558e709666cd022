import { startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, connect } from 'kubecred'
import { openHttp2 } from 'kubecred/http2'
import { createDispatcher } from 'kubecred/undici'
import { Vault } from 'kubecred/vault'
import * as undici from 'undici'
import { codesOf } from '../../packages/core/test/transports/codes-of.ts'
import { RUNTIME } from './here.ts'
import { describe, expect, it } from './node-test.ts'

/** What must fail early on a runtime, with the beginning of its message; everything else must work. */
const REFUSED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Node: {},
  Bun: {
    "transport: 'pool'": 'undici is not supported under Bun',
    'createDispatcher()': 'undici is not supported under Bun',
    'an external signer': 'a signing key needs Node',
    'a signing key of a vault': 'a signing key needs Node',
  },
  Deno: {
    "transport: 'http2'": 'HTTP/2 is not supported under Deno',
    'openHttp2()': 'HTTP/2 is not supported under Deno',
    'an external signer': 'a signing key needs Node',
    'a signing key of a vault': 'a signing key needs Node',
  },
}

const TRIES: Readonly<Record<string, (kubeconfig: string) => Promise<unknown>>> = {
  "transport: 'pool'": (kubeconfig) => open({ kubeconfig, transport: 'pool' }),
  "transport: 'https'": (kubeconfig) => open({ kubeconfig, transport: 'https' }),
  "transport: 'http2'": (kubeconfig) => open({ kubeconfig, transport: 'http2' }),
  'openHttp2()': (kubeconfig) => open({ kubeconfig }, (cluster) => openHttp2(cluster)),
  'createDispatcher()': (kubeconfig) =>
    open({ kubeconfig }, (cluster) => createDispatcher(cluster, undici)),
  'an external signer': () => open({ kubeconfig: { text: WITH_SIGNER } }),
  'a signing key of a vault': async () => {
    await using sandbox = await startSandbox()
    const { certificate } = await sandbox.issueCertificate({ user: 'jane' })
    const vault = new Vault({ freezeLimitMs: 1000 })
    const sign = async (): Promise<Uint8Array> => new Uint8Array(64)
    vault.onLogin(
      () => ({
        server: sandbox.url,
        caData: sandbox.caPem,
        certificateData: certificate,
        signingKey: { sign },
      }),
      { errors: 'permanent' },
    )
    await open({ vault })
  },
}

async function open(options: ConnectOptions, use?: (cluster: Cluster) => void): Promise<void> {
  await using cluster = await connect(options)
  use?.(cluster)
}

const WITH_SIGNER = JSON.stringify({
  clusters: [{ name: 'k', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [
    {
      name: 'u',
      user: { 'auth-provider': { name: 'externalSigner', config: { pathExec: '/signer' } } },
    },
  ],
  contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
  'current-context': 'c',
})

describe('before any request', () => {
  for (const [name, attempt] of Object.entries(TRIES)) {
    const refused = REFUSED[RUNTIME]?.[name]
    it(`${name} ${refused === undefined ? 'is accepted' : 'is refused, and the error says why'}`, async () => {
      await using sandbox = await startSandbox()
      const kubeconfig = sandbox.writeKubeconfig({ user: { token: 'a' } })
      const error = await attempt(kubeconfig).then(
        () => undefined,
        (reason: unknown) => reason as Error & { hint: string },
      )
      if (refused === undefined) {
        expect(error).toBeUndefined()
        return
      }
      // A vault collects the errors of all its logins.
      const code = name.includes('vault') ? 'ERR_LOGIN_FAILED' : 'ERR_NOT_SUPPORTED'
      expect(codesOf(error)).toContain(code)
      expect(error?.message).toContain(refused)
      expect(error?.hint).toMatch(/\.$/)
      expect(sandbox.requests).toEqual([])
    })
  }
})
