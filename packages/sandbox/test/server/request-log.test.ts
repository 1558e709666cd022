import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type IssuedCertificate, type Sandbox, startSandbox } from '../../src/index.ts'
import { call } from '../client.ts'
import { connectH2 } from '../h2-client.ts'

let sandbox: Sandbox
let max: IssuedCertificate
beforeAll(async () => {
  sandbox = await startSandbox()
  max = await sandbox.issueCertificate({ user: 'max' })
})
afterAll(async () => sandbox.close())

describe('the record of a request', () => {
  it('has the HTTP version', async () => {
    await call(sandbox, '/livez')
    await using h2 = connectH2(sandbox)
    await h2.call('/livez')
    expect(sandbox.requests.slice(-2).map(({ httpVersion }) => httpVersion)).toEqual(['1.1', '2.0'])
  })

  it('has the users of the certificate and of the token, whichever took precedence', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    await call(sandbox, '/livez', { token, cert: max.certificate, key: max.key })
    const both = { certificateUser: 'max', tokenUser: 'jane' }
    expect(sandbox.requests.at(-1)).toMatchObject({ user: 'max', ...both })
    sandbox.revoke(token)
    const bad = await sandbox.issueCertificate({ user: 'max', untrusted: true })
    await call(sandbox, '/livez', { token, cert: bad.certificate, key: bad.key })
    expect(sandbox.requests.at(-1)).toMatchObject({ status: 401, ...both })
    expect(sandbox.requests.at(-1)).not.toHaveProperty('user')
  })

  it('has no users without credentials', async () => {
    await call(sandbox, '/livez', { token: 'made-up' })
    expect(sandbox.requests.at(-1)).not.toHaveProperty('tokenUser')
    expect(sandbox.requests.at(-1)).not.toHaveProperty('certificateUser')
  })
})

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a TLS session of %s', (version) => {
  it('can be resumed, and keeps its client certificate', async () => {
    const session = await firstSession(version)
    expect(sandbox.requests.at(-1)).toMatchObject({ user: 'max', tlsSessionReused: false })
    const lena = await sandbox.issueCertificate({ user: 'lena' })
    await ask(dial(version, { cert: lena.certificate, key: lena.key, session }))
    expect(sandbox.requests.at(-1)).toMatchObject({
      tlsSessionReused: true,
      certificateUser: 'max',
      user: 'max',
    })
  })

  it('does not survive a restart', async () => {
    const session = await firstSession(version)
    await sandbox.restart()
    await ask(dial(version, { cert: max.certificate, key: max.key, session }))
    expect(sandbox.requests.at(-1)).toMatchObject({ tlsSessionReused: false, user: 'max' })
  })
})

function dial(
  version: 'TLSv1.2' | 'TLSv1.3',
  options: { cert: string; key: string; session?: Buffer },
): TLSSocket {
  const port = Number(new URL(sandbox.url).port)
  const versions = { minVersion: version, maxVersion: version }
  return connect({ ...options, ...versions, host: '127.0.0.1', port, ca: sandbox.caPem })
}

/** Sends one request on a new connection; the session arrives before the response, or with it. */
async function firstSession(version: 'TLSv1.2' | 'TLSv1.3'): Promise<Buffer> {
  const socket = dial(version, { cert: max.certificate, key: max.key })
  const offered = once(socket, 'session')
  await ask(socket)
  const [session] = await offered
  return session
}

async function ask(socket: TLSSocket): Promise<void> {
  socket.write('GET /livez HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\n\r\n')
  for await (const _ of socket);
}
