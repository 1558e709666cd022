// Flaw 6.4 of kopf's vault: what is in flight is cut when its credential is replaced. Here it finishes.
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

const PATH = '/api/v1/namespaces/default/configmaps'
const KINDS = ['token', 'certificate'] as const
const TRANSPORTS = ['pool', 'https', 'http2'] as const
const WAYS = TRANSPORTS.flatMap((transport) => KINDS.map((kind) => ({ transport, kind })))

/** A cluster whose logins are `login-1`, `login-2` and so on; only the first may have an end. */
async function open({ transport, kind }: (typeof WAYS)[number], firstLifeMs?: number) {
  let logins = 0
  const vault = new Vault().onLogin(
    async () => {
      logins += 1
      const user = `login-${logins}`
      const { certificate, key } = await sandbox.issueCertificate({ user })
      const isShort = logins === 1 && firstLifeMs !== undefined
      return {
        server: sandbox.url,
        caData: sandbox.caPem,
        ...(isShort && { expiration: new Date(Date.now() + firstLifeMs) }),
        ...(kind === 'token'
          ? { token: sandbox.issueToken({ user }).token }
          : { certificateData: certificate, privateKeyData: key }),
      }
    },
    { id: 'corp' },
  )
  return { cluster: await connect({ vault, transport }), logins: () => logins }
}

/** A watch, read line by line. */
async function watch(cluster: Cluster): Promise<() => Promise<string>> {
  const { body } = await cluster.fetch(`${PATH}?watch=true`)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  return async () => (await reader?.read())?.value ?? 'the end'
}

const create = async (cluster: Cluster, name: string): Promise<number> => {
  const response = await cluster.fetch(PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name } }),
  })
  await response.text()
  return response.status
}

const refuse = (user: string): void => {
  sandbox.revoke(user)
  sandbox.revokeCertificates(user)
}

const usersOf = (method: string) =>
  sandbox.requests
    .filter((each) => each.method === method)
    .map(({ user, status }) => [user, status])

describe.each(WAYS)('6.4: with a $kind ($transport)', (way) => {
  it('6.4: a watch continues when the credential is refused to another request', async () => {
    const { cluster, logins } = await open(way)
    await using _ = cluster
    const next = await watch(cluster)
    refuse('login-1')
    expect(await create(cluster, 'after')).toBe(201)
    expect(await next()).toContain('"name":"after"')
    expect(usersOf('POST')).toEqual([
      [undefined, 401],
      ['login-2', 201],
    ])
    expect(logins()).toBe(2)
    expect(usersOf('GET')).toEqual([['login-1', 200]])
  })

  it('6.4: a watch continues after its credential expires, while other requests use the next', async () => {
    const { cluster } = await open(way, 600)
    await using _ = cluster
    const next = await watch(cluster)
    await expect
      .poll(async () => {
        await (await cluster.fetch('/version')).text()
        return sandbox.requests.at(-1)?.user
      })
      .toBe('login-2')
    const isOver = (): boolean => Date.now() > (sandbox.requests[0]?.time ?? 0) + 700
    await expect.poll(isOver).toBe(true)
    expect(await create(cluster, 'after')).toBe(201)
    expect(await next()).toContain('"name":"after"')
  })

  it('6.4: a write in flight is neither cut off nor sent twice', async () => {
    const { cluster } = await open(way)
    await using _ = cluster
    let isHeld = false
    let letGo: (() => void) | undefined
    sandbox.respondWith(async ({ method, user }) => {
      if (method === 'POST' && user?.username === 'login-1' && !isHeld) {
        isHeld = true
        await new Promise<void>((resolve) => (letGo = resolve))
      }
      return undefined
    })
    const slow = create(cluster, 'slow')
    await expect.poll(() => isHeld).toBe(true)
    refuse('login-1')
    expect(await create(cluster, 'quick')).toBe(201)
    letGo?.()
    expect(await slow).toBe(201)
    expect(usersOf('POST')).toEqual([
      ['login-1', 201],
      [undefined, 401],
      ['login-2', 201],
    ])
  })
})
