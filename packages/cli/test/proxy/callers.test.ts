import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type PlainServer,
  startPlainServer,
} from '../../../core/test/adapters/https/plain-server.ts'
import { Home } from '../run/home.ts'
import { Served } from './proxy-process.ts'

const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'

let home: Home
let server: PlainServer
/** Who the server was asked to act as. */
let actedAs: (string | undefined)[]
beforeEach(async () => {
  home = new Home()
  actedAs = []
  server = await startPlainServer((request, response) => {
    if (request.url !== REVIEWS) {
      actedAs.push(request.headers['impersonate-user']?.toString())
      response.end('{}')
      return
    }
    void text(request).then((body) => {
      const [, namespace, name] = JSON.parse(body).spec.token.split('.')
      const username = `system:serviceaccount:${namespace}:${name}`
      const status = name === undefined ? {} : { authenticated: true, user: { username } }
      response.end(JSON.stringify({ status }))
    })
  })
})
afterEach(async () => {
  await home[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

/** The arguments of a proxy whose server is the one of this test. */
function withServer(...args: string[]): string[] {
  const config = {
    clusters: [{ name: 'c', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'token-of-the-proxy' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  const path = home.write('config.json', JSON.stringify(config))
  const shared = ['--kubeconfig', path, '--port', '0', '--no-page', '--log-format', 'json']
  return [...shared, '--authenticate-callers', ...args]
}

const start = (...args: string[]): Promise<Served> => Served.start(home, withServer(...args))

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

/** The lines of the access log, once there are as many. */
async function logged(served: Served, count: number): Promise<Record<string, unknown>[]> {
  await served.running.until('out', new RegExp(`(?:.*\\n){${count + 1}}`))
  return served.running.out
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line))
}

describe('kubecred proxy --authenticate-callers', () => {
  it('admits accepted service accounts only, and its log names every caller', async () => {
    const served = await start('--accept-callers', 'shop/web,jobs/*')
    expect(served.said.headerFile).toBeUndefined()
    expect(await served.status('/api?secret=1', as('eyJ.shop.web'))).toBe(200)
    expect(await served.status('/api', as('eyJ.jobs.any'))).toBe(200)
    expect(await served.status('/api', as('eyJ.shop.web2'))).toBe(403)
    expect(await served.status('/api', as('nonsense'))).toBe(401)
    expect(await served.status('/api')).toBe(401)
    expect(actedAs).toEqual([undefined, undefined])
    const lines = await logged(served, 5)
    expect(lines.map(({ caller, status, refused }) => [caller, status, refused])).toEqual([
      ['system:serviceaccount:shop:web', 200, undefined],
      ['system:serviceaccount:jobs:any', 200, undefined],
      ['system:serviceaccount:shop:web2', 403, 'the caller'],
      [undefined, 401, 'the token'],
      [undefined, 401, 'the token'],
    ])
    expect(lines[0]).toMatchObject({ method: 'GET', path: '/api', address: '127.0.0.1' })
    expect(await served.end()).toBe(0)
    expect(served.running.out + served.running.err).not.toMatch(/eyJ|secret|token-of/)
  })

  it('with --impersonate-callers acts as them', async () => {
    const served = await start('--impersonate-callers')
    expect(await served.status('/api', as('eyJ.shop.web'))).toBe(200)
    expect(actedAs).toEqual(['system:serviceaccount:shop:web'])
    expect(await served.end()).toBe(0)
  })

  it('with --impersonate-callers refuses a context that impersonates already', async () => {
    const args = withServer('--impersonate-callers', '--as', 'jane')
    const { status, err } = await home.run(['proxy', ...args])
    expect(status).toBe(2)
    expect(err).toContain('because the context already impersonates "jane"')
  })
})
