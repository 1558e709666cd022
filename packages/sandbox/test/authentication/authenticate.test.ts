import { Agent } from 'node:https'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { call, whoAmI } from '../client.ts'

const MINUTE = 60_000
const UNAUTHORIZED =
  '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}\n'

let time = Date.now()
let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ now: () => time, basic: { ann: 'pass:word' } })
})
afterAll(async () => sandbox.close())

describe('a token', () => {
  it('authenticates its user', async () => {
    const { token } = sandbox.issueToken({ user: 'jane', groups: ['dev'], uid: '7' })
    const { status, json } = await whoAmI(sandbox, { token })
    expect(status).toBe(201)
    expect(json.status.userInfo).toEqual({
      username: 'jane',
      uid: '7',
      groups: ['dev', 'system:authenticated'],
    })
  })

  it('is valid until it expires', async () => {
    const { token, expirationTimestamp } = sandbox.issueToken({ user: 'jane', lifetimeMs: MINUTE })
    expect(expirationTimestamp).toBe(new Date(time + MINUTE).toISOString())
    expect((await whoAmI(sandbox, { token })).status).toBe(201)
    time += MINUTE
    const refused = await whoAmI(sandbox, { token })
    expect(refused.status).toBe(401)
    expect(refused.text).toBe(UNAUTHORIZED)
  })

  it('can be revoked alone, or with all tokens of its user', async () => {
    const [first, second, other] = ['kim', 'kim', 'lee'].map((user) => sandbox.issueToken({ user }))
    sandbox.revoke(String(first?.token))
    expect((await whoAmI(sandbox, { ...first })).status).toBe(401)
    expect((await whoAmI(sandbox, { ...second })).status).toBe(201)
    sandbox.revoke('kim')
    expect((await whoAmI(sandbox, { ...second })).status).toBe(401)
    expect((await whoAmI(sandbox, { ...other })).status).toBe(201)
  })

  it('gets a 401 if it is unknown, even for public paths', async () => {
    expect((await call(sandbox, '/version', { token: 'made-up' })).status).toBe(401)
  })
})

describe('a certificate', () => {
  it.each([
    { name: 'is accepted', options: {}, status: 201 },
    { name: 'of an intermediate CA is accepted', options: { intermediate: true }, status: 201 },
    { name: 'of another CA gets a 401', options: { untrusted: true }, status: 401 },
    { name: 'that has expired gets a 401', options: { lifetimeMs: -5 * MINUTE }, status: 401 },
    {
      name: 'that is not valid yet gets a 401',
      options: { notBefore: new Date(Date.now() + 5 * MINUTE) },
      status: 401,
    },
  ])('$name', async ({ options, status }) => {
    const made = await sandbox.issueCertificate({ user: 'max', groups: ['a', 'b'], ...options })
    const answer = await whoAmI(sandbox, { cert: made.certificate, key: made.key })
    expect(answer.status).toBe(status)
    if (status === 201) {
      const groups = ['a', 'b', 'system:authenticated']
      expect(answer.json.status.userInfo).toEqual({ username: 'max', groups })
    }
  })

  it('gets a 401 after its expiry on a connection that was opened before', async () => {
    const { certificate: cert, key, notAfter } = await sandbox.issueCertificate({ user: 'max' })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const good = await whoAmI(sandbox, { cert, key, agent })
    const before = time
    time = notAfter.getTime() + 1
    const late = await whoAmI(sandbox, { cert, key, agent })
    time = before
    agent.destroy()
    expect([good.status, late.status]).toEqual([201, 401])
    const [first, second] = sandbox.requests.slice(-2)
    expect(first?.connection).toBe(second?.connection)
  })

  it('can be revoked, and a later one for the same user is accepted', async () => {
    const old = await sandbox.issueCertificate({ user: 'max' })
    sandbox.revokeCertificates('max')
    const fresh = await sandbox.issueCertificate({ user: 'max' })
    expect((await whoAmI(sandbox, { cert: old.certificate, key: old.key })).status).toBe(401)
    expect((await whoAmI(sandbox, { cert: fresh.certificate, key: fresh.key })).status).toBe(201)
  })
})

describe('a server whose clock is wrong', () => {
  it('accepts the certificates that it issues', async () => {
    await using ahead = await startSandbox({ clockSkewMs: 60 * MINUTE })
    const made = await ahead.issueCertificate({ user: 'max' })
    expect((await whoAmI(ahead, { cert: made.certificate, key: made.key })).status).toBe(201)
  })

  it('expires tokens by its own clock', async () => {
    await using ahead = await startSandbox({ clockSkewMs: 60 * MINUTE, now: () => 0 })
    const { expirationTimestamp } = ahead.issueToken({ user: 'max', lifetimeMs: MINUTE })
    expect(expirationTimestamp).toBe('1970-01-01T01:01:00.000Z')
  })
})

describe('a certificate together with a token', () => {
  it.each([
    {
      name: 'takes precedence if both are valid',
      untrusted: false,
      isKnown: true,
      user: 'by-certificate',
    },
    {
      name: 'takes precedence over an invalid token',
      untrusted: false,
      isKnown: false,
      user: 'by-certificate',
    },
    {
      name: 'does not affect a valid token if it is invalid',
      untrusted: true,
      isKnown: true,
      user: 'by-token',
    },
    { name: 'gets a 401 if both are invalid', untrusted: true, isKnown: false, user: undefined },
  ])('$name', async ({ untrusted, isKnown, user }) => {
    const made = await sandbox.issueCertificate({ user: 'by-certificate', untrusted })
    const token = isKnown ? sandbox.issueToken({ user: 'by-token' }).token : 'made-up'
    const answer = await whoAmI(sandbox, { cert: made.certificate, key: made.key, token })
    expect(answer.json.status.userInfo?.username).toBe(user)
    expect(answer.status).toBe(user === undefined ? 401 : 201)
  })
})

describe('a password', () => {
  it.each([
    { text: 'ann:pass:word', status: 201 },
    { text: 'ann:wrong', status: 401 },
    { text: 'ann', status: 401 },
    { text: 'constructor:x', status: 401 },
  ])('given as $text is answered with $status', async ({ text, status }) => {
    const authorization = `Basic ${Buffer.from(text).toString('base64')}`
    expect((await whoAmI(sandbox, { headers: { authorization } })).status).toBe(status)
  })
})

describe('a request without a credential', () => {
  it('may read the version and nothing else', async () => {
    expect((await call(sandbox, '/version')).json.gitVersion).toBe('v1.36.0+sandbox')
    const refused = await call(sandbox, '/api/v1/namespaces')
    expect(refused.status).toBe(403)
    expect(refused.json.message).toBe(
      'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group "" at the cluster scope',
    )
    expect((await call(sandbox, '/api')).json.message).toBe(
      'forbidden: User "system:anonymous" cannot get path "/api"',
    )
  })

  it('gets a 401 if anonymous requests are not allowed', async () => {
    await using strict = await startSandbox({ anonymous: false })
    expect((await call(strict, '/version')).status).toBe(401)
  })

  it('may have an authorization of an unknown scheme, which is ignored', async () => {
    const headers = { authorization: 'Negotiate abc' }
    expect((await call(sandbox, '/version', { headers })).status).toBe(200)
  })
})
