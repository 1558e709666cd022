import { describe, expect, it } from 'vitest'
import { createGuard, type UncheckedRequest, type Verdict } from '../../src/proxy/admit-request.ts'
import { type Authentication, admitEveryone } from '../../src/proxy/authenticate.ts'
import { DEFAULT_RULES, type ProxyRules } from '../../src/proxy/rules.ts'

const HOST = '127.0.0.1:8001'
const CALLER = { user: 'system:serviceaccount:shop:web', groups: [], extra: {} }

interface Given {
  readonly hosts?: readonly string[] | 'any'
  readonly authenticate?: Authentication
  readonly rules?: Partial<ProxyRules>
  readonly prefix?: string
}

/** What a guard decides about a request. */
function decide(
  asked: Partial<UncheckedRequest> & { readonly headers?: Readonly<Record<string, string>> } = {},
  { hosts = [HOST], authenticate = admitEveryone, rules = {}, prefix = '/' }: Given = {},
): Verdict | Promise<Verdict> {
  const { headers = {}, ...rest } = asked
  const guard = createGuard({
    hosts,
    authenticate,
    rules: { ...DEFAULT_RULES, ...rules },
    prefix,
  })
  const rawHeaders = Object.entries({ Host: HOST, ...headers }).flat()
  return guard({ method: 'GET', target: '/api', rawHeaders, isUpgrade: false, ...rest })
}

const rejected = (status: number, why: string) =>
  expect.objectContaining({ status, why, message: expect.any(String) })

describe('a request to the proxy', () => {
  it('is admitted with its path and its headers', () => {
    expect(decide({ target: '/api/v1?x=1', headers: { Accept: 'a/b' } })).toEqual({
      path: { written: '/api/v1', decoded: '/api/v1', search: '?x=1' },
      head: expect.objectContaining({ headers: { accept: 'a/b' } }),
    })
  })

  it.each<[string, Parameters<typeof decide>[0], number, string]>([
    ['another host', { headers: { Host: 'evil.example' } }, 403, 'the host'],
    ['a repeated header', { rawHeaders: ['Host', HOST, 'host', HOST] }, 400, 'a header'],
    ['no host', { rawHeaders: [] }, 403, 'the host'],
    ['a foreign origin', { headers: { Origin: 'https://evil.example' } }, 403, 'the origin'],
    ['an origin with a path', { headers: { Origin: `http://${HOST}/x` } }, 403, 'the origin'],
    ['an origin after other text', { headers: { Origin: `x http://${HOST}` } }, 403, 'the origin'],
    [
      'a page of our own origin',
      { headers: { 'Sec-Fetch-Site': 'same-origin' } },
      403,
      'the origin',
    ],
    ['an invalid path', { target: '/api//v1' }, 400, 'the path'],
    ['the method TRACE', { method: 'TRACE' }, 405, 'the method'],
    ['the method TRACK', { method: 'TRACK' }, 405, 'the method'],
    ['the method CONNECT', { method: 'CONNECT' }, 405, 'the method'],
    ['a forbidden path', { target: '/api/v1/pods/a/exec' }, 403, 'the rules'],
    ['impersonation', { headers: { 'Impersonate-User': 'jane' } }, 403, 'impersonation'],
    ['an upgrade without a protocol', { isUpgrade: true }, 400, 'the protocol'],
    ['an upgrade to h2c', { isUpgrade: true, headers: { Upgrade: 'h2c' } }, 400, 'the protocol'],
    [
      'an upgrade to two protocols',
      { isUpgrade: true, headers: { Upgrade: 'websocket, h2c' } },
      400,
      'the protocol',
    ],
    [
      'an upgrade to a protocol that ends like one of ours',
      { isUpgrade: true, headers: { Upgrade: 'x-websocket' } },
      400,
      'the protocol',
    ],
  ])('with %s is rejected', (_, asked, status, why) => {
    expect(decide(asked)).toEqual(rejected(status, why))
  })

  it.each<[string, Parameters<typeof decide>[0]]>([
    ['its host in capitals', { headers: { Host: HOST.toUpperCase() } }],
    ['our own origin', { headers: { Origin: `http://${HOST}` } }],
    ['our own origin in capitals', { headers: { Origin: `HTTPS://${HOST}` } }],
    ['no site that sent it', { headers: { 'Sec-Fetch-Site': 'none' } }],
    ['an upgrade to a WebSocket', { isUpgrade: true, headers: { Upgrade: 'WebSocket' } }],
    ['an upgrade to SPDY', { isUpgrade: true, headers: { Upgrade: 'SPDY/3.1' } }],
    ['a header Upgrade that is not one', { headers: { Upgrade: 'h2c' } }],
  ])('with %s is admitted', (_, asked) => {
    expect(decide(asked)).toHaveProperty('path')
  })

  it('is checked against hosts that were given in capitals', () => {
    const hosts = ['Proxy.Example']
    expect(decide({ headers: { Host: 'proxy.example' } }, { hosts })).toHaveProperty('path')
    expect(decide({}, { hosts })).toEqual(rejected(403, 'the host'))
  })

  it('may have any host or none on a unix socket, but no origin', () => {
    const given = { hosts: 'any' } as const
    expect(decide({ headers: { Host: 'anything' } }, given)).toHaveProperty('path')
    expect(decide({ rawHeaders: [] }, given)).toHaveProperty('path')
    expect(decide({ headers: { Origin: 'http://anything' } }, given)).toEqual(
      rejected(403, 'the origin'),
    )
  })

  it('may impersonate if the rules allow it, but not an empty user', () => {
    const rules = { allowImpersonation: true }
    expect(decide({ headers: { 'Impersonate-User': 'jane' } }, { rules })).toHaveProperty('path')
    for (const headers of [{ 'Impersonate-Group': 'a' }, { 'Impersonate-User': ' ' }]) {
      expect(decide({ headers }, { rules })).toEqual(rejected(400, 'impersonation'))
    }
  })
})

describe('the prefix of the proxy', () => {
  const pathOf = (target: string, prefix: string) => decide({ target }, { prefix })

  it('is removed up to its last slash', () => {
    expect(pathOf('/cluster/api/v%31?x', '/cluster/')).toHaveProperty('path', {
      written: '/api/v%31',
      decoded: '/api/v1',
      search: '?x',
    })
    expect(pathOf('/cluster/', '/cluster/')).toHaveProperty('path.written', '/')
  })

  it('stays if it is a path of the API itself', () => {
    expect(pathOf('/api/v1', '/api/')).toHaveProperty('path.written', '/api/v1')
    expect(pathOf('/apis/apps/v1', '/apis/apps/')).toHaveProperty('path.written', '/apis/apps/v1')
  })

  it.each(['/other/api', '/cluster', '/x/cluster/api'])('is missing in %s', (target) => {
    expect(pathOf(target, '/cluster/')).toEqual(rejected(404, 'the prefix'))
  })

  it('does not hide a path from the rules', () => {
    expect(pathOf('/cluster/api/v1/pods/a/exec', '/cluster/')).toEqual(rejected(403, 'the rules'))
  })
})

describe('the caller', () => {
  const known: Authentication = () => ({ caller: CALLER })
  const unknown: Authentication = () => ({ status: 401, why: 'the token', message: 'no' })

  it('is named in the verdict, whatever it is', () => {
    expect(decide({}, { authenticate: known })).toMatchObject({ caller: CALLER, path: {} })
    expect(decide({ target: '/api//v1' }, { authenticate: known })).toMatchObject({
      caller: CALLER,
      status: 400,
    })
  })

  it('must be accepted by the rules, if they name callers', () => {
    const given = (acceptCallers: readonly string[]) =>
      decide({}, { authenticate: known, rules: { acceptCallers } })
    expect(given([CALLER.user])).toHaveProperty('path')
    expect(given(['system:serviceaccount:shop:*'])).toHaveProperty('path')
    expect(given([])).toEqual(rejected(403, 'the caller'))
    expect(given(['jane'])).toMatchObject({ caller: CALLER, status: 403 })
  })

  it('that is unknown learns nothing about rules and paths', () => {
    for (const asked of [{}, { target: '/api//v1' }, { method: 'TRACE' }]) {
      expect(decide(asked, { authenticate: unknown })).toEqual(rejected(401, 'the token'))
    }
  })

  it('in a browser does not learn whether its secret is right', () => {
    const headers = { Origin: 'https://evil.example' }
    expect(decide({ headers }, { authenticate: unknown })).toEqual(rejected(403, 'the origin'))
  })

  it('may take time to find out', async () => {
    const later: Authentication = async () => ({ caller: CALLER })
    expect(await decide({}, { authenticate: later })).toMatchObject({ caller: CALLER, path: {} })
    const no: Authentication = async () => ({ status: 503, why: 'x', message: 'y' })
    expect(await decide({}, { authenticate: no })).toMatchObject({ status: 503 })
  })

  it('is found by the header Authorization alone', () => {
    const given: (string | undefined)[] = []
    const authenticate: Authentication = (authorization) => {
      given.push(authorization)
      return { caller: undefined }
    }
    void decide({ headers: { Authorization: 'Bearer x', Cookie: 'a=b' } }, { authenticate })
    void decide({}, { authenticate })
    expect(given).toEqual(['Bearer x', undefined])
  })
})
