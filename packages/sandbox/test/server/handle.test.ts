import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { call, whoAmI } from '../client.ts'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox({
    forbid: (user, method) => user.username === 'kim' && method === 'DELETE',
  })
})
afterEach(async () => sandbox.close())

const configmaps = '/api/v1/namespaces/default/configmaps'

describe('every response', () => {
  it('has the headers of kube-apiserver', async () => {
    const { headers } = await call(sandbox, '/version')
    expect(headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers['cache-control']).toBe('no-cache, private')
    expect(headers['content-type']).toBe('application/json')
  })

  it('has the time of a server whose clock is wrong', async () => {
    const time = Date.UTC(2030, 0, 1)
    await using wrong = await startSandbox({ now: () => time, clockSkewMs: -3_600_000 })
    const { headers } = await call(wrong, '/version')
    expect(headers.date).toBe('Mon, 31 Dec 2029 23:00:00 GMT')
  })

  it('is compressed if it is large and the client accepts gzip', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const json = { metadata: { name: 'large' }, data: { text: 'x'.repeat(200_000) } }
    await call(sandbox, configmaps, { method: 'POST', token, json })
    const plain = await call(sandbox, configmaps, { token })
    const headers = { 'accept-encoding': 'gzip' }
    const packed = await call(sandbox, configmaps, { token, headers })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(packed.bytes).toString()).toBe(plain.text)
    expect((await call(sandbox, '/version', { headers })).headers['content-encoding']).toBe(
      undefined,
    )
  })
})

describe('a request', () => {
  it('is logged without its credential', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    await call(sandbox, '/api/v1/namespaces?limit=1', { token })
    await call(sandbox, '/version', { token: 'made-up' })
    expect(sandbox.requests).toMatchObject([
      {
        method: 'GET',
        path: '/api/v1/namespaces?limit=1',
        user: 'jane',
        status: 200,
        connection: 1,
      },
      { path: '/version', status: 401, hasAuthorization: true, hasClientCertificate: false },
    ])
    expect(JSON.stringify(sandbox.requests)).not.toContain(token)
    expect(sandbox.requests[1]).not.toHaveProperty('user')
  })

  it('gets a 403 if the forbid option says so', async () => {
    const { token } = sandbox.issueToken({ user: 'kim' })
    const { status, json } = await call(sandbox, '/api/v1/namespaces/default', {
      method: 'DELETE',
      token,
    })
    expect(status).toBe(403)
    expect(json.details).toEqual({ name: 'default', kind: 'namespaces' })
    expect((await call(sandbox, '/api/v1/namespaces/default', { token })).status).toBe(200)
  })

  it('with a body over the limit is answered with 413', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const body = Buffer.alloc(3 * 1024 * 1024 + 1, ' ')
    const { status, json } = await call(sandbox, configmaps, { method: 'POST', token, body })
    expect(status).toBe(413)
    expect(json.reason).toBe('RequestEntityTooLarge')
  })
})

describe('a hook', () => {
  it('answers instead of the server until it is removed', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    sandbox.respondWith(({ user }) => ({
      status: 429,
      headers: { 'Retry-After': '7' },
      body: { for: user?.username },
    }))
    const answer = await whoAmI(sandbox, { token })
    expect(answer).toMatchObject({ status: 429, json: { for: 'jane' } })
    expect(answer.headers['retry-after']).toBe('7')
    sandbox.respondWith(undefined)
    expect((await whoAmI(sandbox, { token })).status).toBe(201)
  })

  it('can leave a request to the server', async () => {
    sandbox.respondWith(({ path }) => (path === '/livez' ? { status: 503, body: 'no' } : undefined))
    expect((await call(sandbox, '/livez')).status).toBe(503)
    expect((await call(sandbox, '/readyz')).text).toBe('ok')
  })

  it('can let a request hang until the sandbox is closed', async () => {
    const arrived = new Promise<void>((resolve) => {
      sandbox.respondWith(async () => {
        resolve()
        return new Promise(() => {})
      })
    })
    const hanging = expect(call(sandbox, '/version')).rejects.toThrow('socket hang up')
    await arrived
    expect(sandbox.requests[0]).not.toHaveProperty('status')
    expect(sandbox.connections).toEqual({ opened: 1, open: 1 })
    await sandbox.close()
    await hanging
    expect(sandbox.connections).toEqual({ opened: 1, open: 0 })
  })
})
