import https from 'node:https'
import { inspect } from 'node:util'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

async function connectWith(credential: 'token' | 'certificate' | 'both'): Promise<Cluster> {
  const exec = await sandbox.plugin({ user: 'jane', credential })
  return connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
}

/** An HTTP client without an adapter: it uses only the exposed values. */
async function send(cluster: Cluster): Promise<number | undefined> {
  const [headers, options] = [await cluster.headers(), await cluster.tlsOptions()]
  return new Promise((resolve, reject) => {
    https
      .get(`${cluster.server}/api/v1/namespaces`, { headers, ...options, agent: false })
      .once('error', reject)
      .once('response', (response) => resolve(response.resume().statusCode))
  })
}

describe('headers() and tlsOptions()', () => {
  it.each(['token', 'certificate', 'both'] as const)(
    'are enough for any client (%s)',
    async (answers) => {
      await using cluster = await connectWith(answers)
      expect(await send(cluster)).toBe(200)
      const { hasAuthorization, hasClientCertificate, user } = sandbox.requests.at(-1) ?? {}
      expect({ hasAuthorization, hasClientCertificate, user }).toEqual({
        hasAuthorization: answers !== 'certificate',
        hasClientCertificate: answers !== 'token',
        user: 'jane',
      })
    },
  )

  it('have the impersonation headers, and none that do not authenticate', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const user = { token, impersonate: 'bob', impersonateGroups: ['a', 'b'] }
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user }) })
    expect(await cluster.headers()).toEqual({
      authorization: `Bearer ${token}`,
      'impersonate-user': 'bob',
      'impersonate-group': ['a', 'b'],
    })
  })

  it('are copies: changes by a caller do not affect the next ones', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const user = { token, impersonate: 'bob', impersonateGroups: ['a'] }
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user }) })
    const mine = await cluster.headers()
    ;(mine['impersonate-group'] as string[]).push('system:masters')
    expect((await cluster.headers())['impersonate-group']).toEqual(['a'])
    await (await cluster.fetch('/version')).text()
    expect(inspect(sandbox.requests.at(-1))).not.toContain('masters')
  })

  it('verify the server: another CA is rejected', async () => {
    await using cluster = await connectWith('token')
    await using other = await startSandbox()
    const options = await cluster.tlsOptions()
    await expect(
      new Promise((_, reject) => {
        https.get(other.url, { ...options, agent: false }).once('error', reject)
      }),
    ).rejects.toMatchObject({ code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  })

  it('make an https.Agent keep no TLS session', async () => {
    await using cluster = await connectWith('certificate')
    expect((await cluster.tlsOptions()).maxCachedSessions).toBe(0)
  })

  it('are rejected after close()', async () => {
    const cluster = await connectWith('token')
    await cluster.close()
    await expect(cluster.headers()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await expect(cluster.tlsOptions()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await expect(cluster.reportRefused({})).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  it('can be aborted by a signal, and the plugin continues for the others', async () => {
    const exec = await sandbox.plugin({ user: 'jane', delayMs: 500 })
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    const impatient = new AbortController()
    const left = cluster.headers({ signal: impatient.signal })
    const stayed = cluster.headers()
    impatient.abort(new Error('enough'))
    await expect(left).rejects.toThrow('enough')
    expect(await stayed).toHaveProperty('authorization')
    expect(sandbox.pluginRuns).toBe(1)
  })
})

describe('reportRefused()', () => {
  it('returns true if there is a new credential, for all concurrent reports, with one run', async () => {
    await using cluster = await connectWith('token')
    const headers = await cluster.headers()
    sandbox.revoke('jane')
    // A copy, as callers make one to add headers of their own.
    const reports = Array.from({ length: 20 }, () =>
      cluster.reportRefused({ ...headers, accept: 'application/json' }),
    )
    expect(new Set(await Promise.all(reports))).toEqual(new Set([true]))
    expect(sandbox.pluginRuns).toBe(2)
    expect(await send(cluster)).toBe(200)
  })

  it('does not affect a newer credential if it comes late', async () => {
    await using cluster = await connectWith('token')
    const old = await cluster.headers()
    expect(await cluster.reportRefused(old)).toBe(true)
    expect(await cluster.reportRefused(old)).toBe(true)
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('recognises a certificate by its tlsOptions', async () => {
    await using cluster = await connectWith('certificate')
    expect(await cluster.reportRefused(await cluster.tlsOptions())).toBe(true)
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('returns false for values that are not ours', async () => {
    await using cluster = await connectWith('token')
    await cluster.headers()
    expect(await cluster.reportRefused({ authorization: 'Bearer another-user' })).toBe(false)
    expect(await cluster.reportRefused(new Headers({ authorization: 'Bearer a' }))).toBe(false)
    expect(await cluster.reportRefused({ cert: 'another certificate' })).toBe(false)
    expect(sandbox.pluginRuns).toBe(1)
  })

  it.each<[string, (headers: Record<string, string>) => object]>([
    ['names in another case', ({ authorization }) => ({ Authorization: authorization })],
    ['a Headers', (headers) => new Headers(headers)],
    [
      'pairs',
      ({ authorization }) => [
        ['accept', '*/*'],
        ['AUTHORIZATION', authorization],
      ],
    ],
    ['a value in a list', ({ authorization }) => ({ authorization: [authorization] })],
    ['the options of a request', (headers) => ({ method: 'GET', headers })],
    ['a Request', (headers) => new Request('https://server', { headers })],
    ['options with a certificate of the caller', (headers) => ({ headers, cert: 'own' })],
  ])('recognises a token in %s', async (_, copy) => {
    await using cluster = await connectWith('token')
    const headers = (await cluster.headers()) as Record<string, string>
    expect(await cluster.reportRefused(copy(headers))).toBe(true)
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('recognises a certificate by its headers, which do not contain it', async () => {
    await using cluster = await connectWith('certificate')
    expect(await cluster.reportRefused(await cluster.headers())).toBe(true)
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('recognises a certificate by a copy as bytes', async () => {
    await using cluster = await connectWith('certificate')
    const { cert } = await cluster.tlsOptions()
    expect(await cluster.reportRefused({ cert: Buffer.from(String(cert)) })).toBe(true)
    expect(sandbox.pluginRuns).toBe(2)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['the token alone', 'Bearer canary'],
    ['an empty object', {}],
    ['headers without an authorization', { accept: 'canary' }],
    ['names and values in one list', ['authorization', 'Bearer canary']],
  ])('throws a clear error for %s', async (_, given) => {
    await using cluster = await connectWith('token')
    await cluster.headers()
    const error = await cluster.reportRefused(given as never).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toContain('takes what cluster.headers() or cluster.tlsOpt')
    expect((error as Error).message).not.toContain('canary')
    expect(sandbox.pluginRuns).toBe(1)
  })

  it('returns false if there is no new credential', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { token } }),
    })
    expect(await cluster.reportRefused(await cluster.headers())).toBe(false)
  })
})
