import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { isCredentialError } from 'kubecred/errors'
import { loginWithKubeconfig } from 'kubecred/logins'
import {
  LoginError,
  type LoginHandler,
  type LoginOptions,
  PermanentError,
  TemporaryError,
  Vault,
} from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ProgramFolder } from '../logins/scene.ts'

const EXEC = 'client.authentication.k8s.io/v1'
const NO_CERTIFICATE = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const NAMESPACES = '/api/v1/namespaces'
/** Much more than a failure that is reported at once needs, also on a busy machine; others wait for a minute. */
const AT_ONCE_MS = 10_000

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

const good = (user = 'jane', lifetimeMs?: number) => ({
  server: sandbox.url,
  caData: sandbox.caPem,
  token: sandbox.issueToken({ user }).token,
  ...(lifetimeMs !== undefined && { expiration: new Date(Date.now() + lifetimeMs) }),
})

/** A handler that counts its calls and knows when the last one was. */
function counted(handler: LoginHandler): { handler: LoginHandler; calls: number; lastAt: number } {
  const own = {
    calls: 0,
    lastAt: 0,
    handler: ((context) => {
      own.calls += 1
      own.lastAt = Date.now()
      return handler(context)
    }) as LoginHandler,
  }
  return own
}

async function failure(work: Promise<unknown>): Promise<LoginError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof LoginError)) throw new Error(`no LoginError: ${String(error)}`)
  return error
}

/** Every way for a login to end without a credential: how often the handler is called, and what is said of it. */
const ENDS: Readonly<
  Record<string, { handler: LoginHandler; options?: LoginOptions; calls: number; says: RegExp }>
> = {
  'a permanent error': {
    handler: () => {
      throw new PermanentError('wrong password')
    },
    calls: 1,
    says: /; corp failed: wrong password/,
  },
  'three attempts': {
    handler: ({ attempt }) => {
      throw new Error(`no answer to call ${attempt}`)
    },
    options: { attempts: 3, backoffMs: 20 },
    calls: 3,
    says: /; corp failed after 3 attempts: no answer to call 3/,
  },
  'three attempts with pauses of its own': {
    handler: () => {
      throw new TemporaryError('busy', { delayMs: 20 })
    },
    options: { attempts: 3 },
    calls: 3,
    says: /; corp failed after 3 attempts: busy/,
  },
  nothing: { handler: () => undefined, calls: 1, says: /; corp returned nothing/ },
  'invalid fields': {
    handler: () => ({ server: 'nowhere' }),
    calls: 1,
    says: /; corp failed: server is not an http/,
  },
  'an error that counts as permanent': {
    handler: () => {
      throw new Error('no such account')
    },
    options: { errors: 'permanent' },
    calls: 1,
    says: /; corp failed: no such account/,
  },
  'a file that does not exist': {
    handler: () => ({ server: sandbox.url, caPath: '/nowhere/ca.crt' }),
    calls: 1,
    says: /; corp failed: caPath "\/nowhere\/ca.crt" cannot be used: /,
  },
  'an invalid CA': {
    handler: () => ({ server: sandbox.url, caData: NO_CERTIFICATE }),
    calls: 1,
    says: /; corp failed: certificate 1 in caData cannot be parsed/,
  },
  'certificate files that do not exist': {
    handler: () => ({ server: sandbox.url, certificatePath: '/nowhere/c', privateKeyPath: '/k' }),
    calls: 1,
    says: /; corp failed: certificatePath "\/nowhere\/c" cannot be used: it does not exist/,
  },
  'an invalid certificate': {
    handler: () => ({
      server: sandbox.url,
      certificateData: NO_CERTIFICATE,
      privateKeyData: NO_CERTIFICATE,
    }),
    calls: 1,
    says: /; corp failed: certificateData and privateKeyData: the certificate cannot be parsed/,
  },
}

describe('when the only login ends with', () => {
  it.each(Object.entries(ENDS))(
    '%s, connect() fails at once with its last error',
    async (_, { handler, options = {}, calls, says }) => {
      const corp = counted(handler)
      const vault = new Vault().onLogin(corp.handler, { id: 'corp', ...options })
      const error = await failure(connect({ vault }))
      expect(Date.now() - corp.lastAt).toBeLessThan(AT_ONCE_MS)
      expect(error.message).toMatch(says)
      expect(corp.calls).toBe(calls)
      expect(error.nextTryAt).toBeGreaterThan(corp.lastAt)
    },
  )
})

describe('requests without a login', () => {
  /** Connected with a login that has expired; what the handler does next is up to the test. */
  async function expired(next: LoginHandler): Promise<{ cluster: Cluster; calls: () => number }> {
    const corp = counted((context) =>
      context.reason === 'first' ? good('jane', 400) : next(context),
    )
    const cluster = await connect({ vault: new Vault().onLogin(corp.handler, { id: 'corp' }) })
    await expect.poll(() => cluster.status().credential.state).not.toBe('ready')
    return { cluster, calls: () => corp.calls - 1 }
  }

  it('all fail at once when the login ends, after one call', async () => {
    let end: (() => void) | undefined
    const { cluster, calls } = await expired(
      () =>
        new Promise((_, reject) => {
          end = () => reject(new PermanentError('account locked'))
        }),
    )
    await using _ = cluster
    const requests = Array.from({ length: 20 }, () => failure(cluster.fetch(NAMESPACES)))
    await expect.poll(() => end).toBeDefined()
    end?.()
    const endedAt = Date.now()
    for (const error of await Promise.all(requests)) expect(error.message).toContain('locked')
    expect(Date.now() - endedAt).toBeLessThan(AT_ONCE_MS)
    expect(calls()).toBe(1)
  })

  it('fail at once while the back-off lasts, and the next one after it starts another login', async () => {
    let isUp = false
    const { cluster, calls } = await expired(() => {
      if (isUp) return good()
      throw new PermanentError('account locked')
    })
    await using _ = cluster
    const first = await failure(cluster.fetch(NAMESPACES))
    const before = calls()
    for (let request = 0; request < 6; request += 1) {
      const error = await failure(cluster.fetch(NAMESPACES))
      // A busy machine may take longer than the back-off for this.
      if (Date.now() >= (first.nextTryAt ?? 0)) break
      expect(error.message).toContain('account locked')
      expect(error.nextTryAt).toBe(first.nextTryAt)
      expect(calls()).toBe(before)
    }
    isUp = true
    await expect
      .poll(() => cluster.fetch(NAMESPACES).then(({ status }) => status, isCredentialError), {
        timeout: 20_000,
      })
      .toBe(200)
  })

  it('wait for a handler that still tries, although another has failed', async () => {
    const refuser = counted(() => {
      throw new PermanentError('wrong password')
    })
    let isUp = false
    const slow = counted(() => {
      if (isUp) return good('slow')
      throw new TemporaryError('busy', { delayMs: 10 })
    })
    const vault = new Vault()
      .onLogin(refuser.handler, { id: 'refuser' })
      .onLogin(slow.handler, { id: 'slow' })
    // Shorter than the time that the test waits below: the one that failed is not asked again all the same.
    const connecting = connect({ vault, policy: { backoffFirstMs: 1 } })
    await expect.poll(() => slow.calls).toBeGreaterThan(10)
    expect(refuser.calls).toBe(1)
    isUp = true
    await using cluster = await connecting
    expect((await cluster.fetch(NAMESPACES)).status).toBe(200)
  })
})

describe('connect() after a connect() that failed', () => {
  it('fails at once while the back-off lasts, which grows', async () => {
    const corp = counted(() => {
      throw new PermanentError('wrong password')
    })
    const vault = new Vault().onLogin(corp.handler, { id: 'corp' })
    const pauses: number[] = []
    for (let round = 1; round <= 3; round += 1) {
      const error = await failure(connect({ vault, policy: { backoffFirstMs: 300 } }))
      pauses.push((error.nextTryAt ?? 0) - corp.lastAt)
      // Unless the machine is so busy that the pause is over by now.
      if (Date.now() < (error.nextTryAt ?? 0) - 100) {
        const again = await failure(connect({ vault }))
        expect(again.message).toContain('wrong password')
        expect(again.nextTryAt).toBe(error.nextTryAt)
      }
      expect(vault.status()).toMatchObject({ state: 'failed' })
      await expect.poll(() => Date.now() > (error.nextTryAt ?? 0), { timeout: 10_000 }).toBe(true)
    }
    expect(corp.calls).toBe(3)
    expect(pauses[2]).toBeGreaterThan((pauses[0] ?? 0) * 2)
  }, 20_000)

  it('accepts another handler', async () => {
    const vault = new Vault().onLogin(() => undefined, { id: 'nothing' })
    await failure(connect({ vault }))
    vault.onLogin(() => good(), { id: 'good' })
    await using cluster = await connect({ vault })
    expect((await cluster.fetch(NAMESPACES)).status).toBe(200)
  })

  it('follows the policy of the new call', async () => {
    using program = new ProgramFolder()
    const { token } = sandbox.issueToken({ user: 'jane' })
    const answer = { apiVersion: EXEC, kind: 'ExecCredential', status: { token } }
    program.write('plugins/corp-token', `#!/bin/sh\necho '${JSON.stringify(answer)}'`, 0o700)
    const exec = { apiVersion: EXEC, command: 'corp-token', interactiveMode: 'Never' as const }
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    const vault = new Vault().onLogin((context) => loginWithKubeconfig(context, { kubeconfig }))
    const error = await failure(connect({ vault, policy: { backoffFirstMs: 1 } }))
    expect(error.message).toContain('"corp-token"')
    const policy = { pluginFolders: [join(program.folder, 'plugins')] }
    await expect.poll(() => Date.now() > (error.nextTryAt ?? 0)).toBe(true)
    await using cluster = await connect({ vault, policy })
    expect((await cluster.fetch(NAMESPACES)).status).toBe(200)
  })
})

it('a vault without handlers fails at once if there is nothing to fall back on', async () => {
  using program = new ProgramFolder()
  program.start()
  vi.stubEnv('HOME', program.folder)
  vi.stubEnv('KUBECONFIG', '')
  try {
    const startedAt = Date.now()
    const error = await failure(connect({ vault: new Vault() }))
    expect(Date.now() - startedAt).toBeLessThan(AT_ONCE_MS)
    expect(error.message).toMatch(/; kubeconfig returned nothing; service-account returned nothing/)
  } finally {
    vi.unstubAllEnvs()
  }
})
