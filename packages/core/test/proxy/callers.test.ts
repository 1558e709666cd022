import type { IncomingMessage, ServerResponse } from 'node:http'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import type { Cluster } from 'kubecred'
import { DEFAULT_RULES, type ProxyOptions, reviewTokens } from 'kubecred/proxy'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TokenReviews } from '../../src/proxy/review-tokens.ts'
import { lineOf } from '../../src/request/line.ts'
import { type PlainServer, startPlainServer, TOKEN } from '../adapters/https/plain-server.ts'
import { withResolvers } from '../adapters/https/with-resolvers.ts'
import { ask, head, type RunningProxy, sendBytes, startProxy } from './scene.ts'

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews'
const WEB = {
  username: 'system:serviceaccount:shop:web',
  uid: '1234',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/pod-name': ['web-0'] },
}

/** What the server answers to a review: a user, a status, or text in place of a TokenReview. */
type Answer = object | number | string | undefined
interface Spec {
  readonly token: string
  readonly audiences?: readonly string[]
}

let server: PlainServer
let proxies: RunningProxy[]
/** The reviews that reached the server. */
let reviews: Spec[]
/** The other requests that reached the server. */
let seen: IncomingMessage['headersDistinct'][]
let answerTo: (spec: Spec) => Answer | Promise<Answer>
beforeEach(async () => {
  proxies = []
  reviews = []
  seen = []
  answerTo = ({ token }) => (token === 'web-token' ? WEB : undefined)
  server = await startPlainServer((request, response) => void respond(request, response))
})
afterEach(async () => {
  for (const proxy of proxies) await proxy[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url !== PATH) {
    seen.push(request.headersDistinct)
    response.end('ok')
    return
  }
  expect(request.headers.authorization).toBe(`Bearer ${TOKEN}`)
  const review = JSON.parse(await text(request))
  expect(review).toMatchObject({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' })
  reviews.push(review.spec)
  const answer = await answerTo(review.spec)
  if (typeof answer === 'number') response.statusCode = answer
  const { audiences } = review.spec
  const status = answer === undefined ? {} : { authenticated: true, user: answer, audiences }
  response.end(typeof answer === 'string' ? answer : JSON.stringify({ status }))
}

async function start(options: Partial<ProxyOptions> = {}, cluster: Cluster = server.cluster) {
  const authenticate = reviewTokens(cluster)
  const running = await startProxy(cluster, { secret: undefined, authenticate, ...options })
  proxies.push(running)
  return running
}

const as = (token: string, more = {}) => ({
  headers: { authorization: `Bearer ${token}`, ...more },
})

describe('a caller with its own token', () => {
  it('is admitted and named, and its token is not forwarded', async () => {
    const { port, notes } = await start()
    expect(await ask(port, as('web-token'))).toMatchObject({ status: 200, text: 'ok' })
    expect(reviews).toEqual([{ token: 'web-token' }])
    expect(seen[0]?.['authorization']).toEqual([`Bearer ${TOKEN}`])
    expect(seen[0]?.['impersonate-user']).toBeUndefined()
    expect(notes).toMatchObject([{ status: 200, caller: WEB.username }])
  })

  it('is refused if the server does not accept the token, or there is none', async () => {
    const { port, notes } = await start()
    for (const asked of [as('other-token'), { headers: {} }, as('x'.repeat(16 * 1024 + 1))]) {
      const { status, text: body, headers } = await ask(port, asked)
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toEqual(['Bearer realm="kubecred proxy"'])
      expect(body).not.toContain('other-token')
    }
    expect(reviews).toEqual([{ token: 'other-token' }])
    expect(seen).toEqual([])
    expect(notes.map(({ rejectedFor }) => rejectedFor)).toEqual(Array(3).fill('the token'))
  })

  it('is named also if the rules reject its request', async () => {
    const { port, notes } = await start({ rules: { ...DEFAULT_RULES, readOnly: true } })
    expect(await ask(port, { ...as('web-token'), method: 'POST' })).toMatchObject({ status: 403 })
    expect(notes).toMatchObject([{ rejectedFor: 'the rules', caller: WEB.username }])
  })

  it.each([
    [['system:serviceaccount:shop:web'], 200],
    [['system:serviceaccount:shop:*'], 200],
    [['system:serviceaccount:jobs:*', 'jane'], 403],
    [['system:serviceaccount:*:*', 'system:serviceaccount:*', '*'], 403],
    [['system:serviceaccount:shop:we', 'system:serviceaccount:sho:*'], 403],
    [[], 403],
  ])(
    'is admitted by rules.acceptCallers only if it is named: %j',
    async (acceptCallers, status) => {
      const { port, notes } = await start({ rules: { ...DEFAULT_RULES, acceptCallers } })
      expect((await ask(port, as('web-token'))).status).toBe(status)
      expect(notes).toMatchObject([{ status, caller: WEB.username }])
    },
  )

  it('is not reviewed if its host or origin is wrong', async () => {
    const { port } = await start()
    expect((await ask(port, as('web-token', { host: 'evil.example' }))).status).toBe(403)
    expect((await ask(port, as('web-token', { origin: 'http://evil.example' }))).status).toBe(403)
    expect(reviews).toEqual([])
  })

  it('is reviewed before an upgrade too', async () => {
    const { port, notes } = await start()
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' }
    expect((await ask(port, as('other-token', upgrade))).status).toBe(401)
    expect(notes).toMatchObject([{ isUpgrade: true, status: 401 }])
    expect(seen).toEqual([])
  })

  it('gets the responses of pipelined requests in order', async () => {
    answerTo = async ({ token }) => {
      // The first review ends after the second has begun.
      if (token === 'first-token') while (reviews.length < 2) await new Promise(setImmediate)
      return token === 'first-token' ? WEB : undefined
    }
    const { port } = await start()
    const line = (token: string, end: string): string =>
      head(port, 'GET /api HTTP/1.1', end).replace(/Bearer .*/, `Bearer ${token}`)
    const bytes = line('first-token', 'X: 1') + line('second-token', 'Connection: close')
    const said = await sendBytes(port, bytes)
    expect(said.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401'])
  })

  it('that disconnects during the review gets no request sent', async () => {
    const reached = withResolvers<void>()
    const answer = withResolvers<Answer>()
    answerTo = () => {
      reached.resolve()
      return answer.promise
    }
    const { port, notes } = await start()
    const socket = net.connect(port, '127.0.0.1')
    socket.write(head(port, 'GET /api HTTP/1.1').replace(/Bearer .*/, 'Bearer web-token'))
    await reached.promise
    socket.destroy()
    await until(() => proxies[0]?.proxy.open === 0)
    answer.resolve(WEB)
    await until(() => notes.length > 0)
    expect(notes).toMatchObject([{ status: 0 }])
    expect(seen).toEqual([])
  })
})

describe('a review that cannot be made refuses the caller with 503', () => {
  it.each<[string, Answer, string]>([
    ['the server responds 403', 403, 'the server responded 403'],
    ['the server responds 500', 500, 'the server responded 500'],
    ['the response is another object', 'null', 'the response is not a TokenReview'],
    ['the response is not JSON', '<html>', 'the response is not a TokenReview'],
    ['the response is too large', ' '.repeat(300_000), 'the response is too large'],
    ['the user has no name', { ...WEB, username: ' ' }, 'the response is not a TokenReview'],
    ['the groups of the user are not a list', { ...WEB, groups: 'a' }, 'is not a TokenReview'],
    ['an extra value is not a list', { ...WEB, extra: { a: 'b' } }, 'is not a TokenReview'],
  ])('%s', async (_, answer, reason) => {
    answerTo = () => answer
    const { port, notes } = await start()
    const { status, text: body } = await ask(port, as('web-token'))
    expect(status).toBe(503)
    expect(JSON.parse(body).message).toContain(reason)
    expect(body).toContain('ERR_TOKEN_REVIEW')
    expect(body).not.toContain('web-token')
    expect(notes).toMatchObject([{ rejectedFor: 'ERR_TOKEN_REVIEW' }])
    expect(seen).toEqual([])
    // A failure is not kept.
    answerTo = () => WEB
    expect((await ask(port, as('web-token'))).status).toBe(200)
  })

  it('the server cannot be reached', async () => {
    const { port } = await start()
    server.server.closeAllConnections()
    server.server.close()
    const { status, text: body } = await ask(port, as('web-token'))
    expect(status).toBe(503)
    expect(body).toContain('ERR_SERVER_UNREACHABLE')
    expect(body).not.toContain('web-token')
  })
})

describe('the results of reviews', () => {
  let now = 0
  const make = (audiences?: string[]): TokenReviews => {
    now = 0
    return new TokenReviews(lineOf(server.cluster, 'test'), { audiences }, () => now)
  }

  it('are shared by requests at the same time, and kept briefly', async () => {
    const made = make()
    const both = await Promise.all([made.callerOf('web-token'), made.callerOf('web-token')])
    expect(both.map((caller) => caller?.user)).toEqual([WEB.username, WEB.username])
    now = 9_999
    expect(made.callerOf('web-token')).toMatchObject({ user: WEB.username })
    expect(reviews).toHaveLength(1)
    answerTo = () => undefined
    now = 10_000
    expect(await made.callerOf('web-token')).toBeUndefined()
    now = 11_999
    expect(made.callerOf('web-token')).toBeUndefined()
    expect(reviews).toHaveLength(2)
    answerTo = () => WEB
    now = 12_000
    expect(await made.callerOf('web-token')).toMatchObject({ user: WEB.username })
  })

  it('of right tokens are kept, however many wrong ones there are', async () => {
    const made = make()
    await made.callerOf('web-token')
    for (let i = 0; i < 1_100; i += 1) await made.callerOf(`wrong-${i}`)
    reviews = []
    await made.callerOf('web-token')
    await made.callerOf('wrong-1099')
    expect(reviews).toEqual([])
    await made.callerOf('wrong-0')
    expect(reviews).toEqual([{ token: 'wrong-0' }])
  })

  it('are made for a limited number of tokens at a time', async () => {
    const answer = withResolvers<Answer>()
    answerTo = () => answer.promise
    const made = make()
    const running = Array.from({ length: 32 }, (_, i) => made.callerOf(`token-${i}`))
    expect(() => made.callerOf('one-more')).toThrow('32 reviews are already running')
    // One that is already running is joined.
    const joined = made.callerOf('token-0')
    answer.resolve(WEB)
    for (const caller of await Promise.all([...running, joined])) {
      expect(caller?.user).toBe(WEB.username)
    }
    expect(await made.callerOf('one-more')).toMatchObject({ user: WEB.username })
  })

  it('depend on the audience, if one is required', async () => {
    const made = make(['kubecred'])
    expect(await made.callerOf('web-token')).toMatchObject({ user: WEB.username })
    expect(reviews).toEqual([{ token: 'web-token', audiences: ['kubecred'] }])
    // A server that does not know audiences repeats none.
    answerTo = () => JSON.stringify({ status: { authenticated: true, user: WEB } })
    expect(await made.callerOf('another')).toBeUndefined()
    answerTo = () =>
      JSON.stringify({ status: { authenticated: true, user: WEB, audiences: ['api'] } })
    expect(await made.callerOf('a-third')).toBeUndefined()
  })
})

describe('with impersonateCallers', () => {
  const impersonate = { impersonateCallers: true }
  const impersonation = () =>
    Object.fromEntries(Object.entries(seen[0] ?? {}).filter(([name]) => /^imp/.test(name)))

  it('a request is sent as its caller; the server knows the groups of a service account', async () => {
    const { port } = await start(impersonate)
    expect((await ask(port, as('web-token'))).status).toBe(200)
    expect(impersonation()).toEqual({
      'impersonate-user': [WEB.username],
      'impersonate-uid': ['1234'],
      'impersonate-extra-authentication.kubernetes.io%2fpod-name': ['web-0'],
    })
    expect(seen[0]?.['authorization']).toEqual([`Bearer ${TOKEN}`])
  })

  it.each([
    ['of a person', { username: 'jane', groups: ['dev', 'system:authenticated'] }, ['dev']],
    [
      'of a service account that has others',
      { ...WEB, groups: [...WEB.groups, 'dev'] },
      ['system:serviceaccounts', 'system:serviceaccounts:shop', 'dev'],
    ],
    [
      'of a service account of another namespace',
      { ...WEB, groups: ['system:serviceaccounts', 'system:serviceaccounts:bank'] },
      ['system:serviceaccounts', 'system:serviceaccounts:bank'],
    ],
  ])('the groups %s are sent', async (_, user, groups) => {
    answerTo = () => user
    const { port } = await start(impersonate)
    expect((await ask(port, as('web-token'))).status).toBe(200)
    expect(seen[0]?.['impersonate-group']).toEqual(groups)
  })

  it('a caller cannot impersonate others', async () => {
    const { port } = await start(impersonate)
    for (const name of ['impersonate-user', 'Impersonate-Group', 'impersonate-extra-a']) {
      expect((await ask(port, as('web-token', { [name]: 'admin' }))).status).toBe(403)
    }
    expect(seen).toEqual([])
  })

  it('a name that no header can have is not sent', async () => {
    answerTo = () => ({ ...WEB, username: 'a\r\nimpersonate-group: system:masters' })
    const { port } = await start({ ...impersonate, onError: () => {} })
    expect((await ask(port, as('web-token'))).status).toBeGreaterThanOrEqual(500)
    expect(seen).toEqual([])
  })

  it.each<[string, Partial<ProxyOptions>]>([
    ['impersonateCallers needs authenticate', { authenticate: undefined, secret: 'x'.repeat(16) }],
    ['allowImpersonation cannot', { rules: { ...DEFAULT_RULES, allowImpersonation: true } }],
    ['secret and authenticate cannot be combined', { secret: 'x'.repeat(16) }],
  ])('a contradiction is refused: %s', async (message, options) => {
    await expect(start({ ...impersonate, ...options })).rejects.toThrow(message)
  })

  it('the impersonation of a kubeconfig is refused', async () => {
    const other = await startPlainServer(() => {}, { as: 'jane' })
    try {
      await expect(start(impersonate, other.cluster)).rejects.toThrow('impersonation of a kubec')
    } finally {
      await other[Symbol.asyncDispose]()
    }
  })
})

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise(setImmediate)
}
