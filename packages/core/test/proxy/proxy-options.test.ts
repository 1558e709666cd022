import { describe, expect, it } from 'vitest'
import { applyLimits, readLimits, serverOptions } from '../../src/proxy/limits.ts'
import {
  checkSecret,
  type ProxyOptions,
  readAuthentication,
  readHosts,
  readImpersonation,
  readPrefix,
} from '../../src/proxy/proxy-options.ts'
import { isAcceptedCaller } from '../../src/proxy/rules.ts'
import type { Line } from '../../src/request/line.ts'
import { Secret } from '../../src/secret/secret.ts'

const options = (given: Partial<ProxyOptions>) => given as ProxyOptions
const SECRET = 'a-secret-of-the-proxy'

describe('the limits of a proxy', () => {
  const DEFAULTS = {
    connections: 1100,
    headerBytes: 65_536,
    headersTimeoutMs: 10_000,
    idleMs: 90_000,
    pipelined: 16,
  }

  it('have defaults, of which each can be changed', () => {
    expect(readLimits()).toEqual(DEFAULTS)
    for (const name of Object.keys(DEFAULTS)) {
      expect(readLimits({ [name]: 1 })).toEqual({ ...DEFAULTS, [name]: 1 })
    }
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5'])('are not %s', (value) => {
    for (const name of Object.keys(DEFAULTS)) {
      expect(() => readLimits({ [name]: value })).toThrow(
        `limits.${name} must be a whole number above 0, not ${value}`,
      )
    }
  })

  it('become options of a server, which never parses leniently', () => {
    expect(serverOptions()).toEqual({
      insecureHTTPParser: false,
      maxHeaderSize: 65_536,
      headersTimeout: 10_000,
      requestTimeout: 0,
      keepAliveTimeout: 90_000,
      connectionsCheckingInterval: 2500,
      handshakeTimeout: 10_000,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      noDelay: true,
    })
    expect(serverOptions({ headersTimeoutMs: 60_000 }).connectionsCheckingInterval).toBe(5000)
    expect(serverOptions({ headersTimeoutMs: 1 }).connectionsCheckingInterval).toBe(1)
  })

  it('are applied to an existing server', () => {
    const server = { insecureHTTPParser: true, timeout: 5, requestTimeout: 5, maxHeadersCount: 9 }
    applyLimits(server as never, readLimits({ headerBytes: 7, idleMs: 8, headersTimeoutMs: 9 }))
    expect(server).toEqual({
      insecureHTTPParser: false,
      maxHeaderSize: 7,
      headersTimeout: 9,
      requestTimeout: 0,
      keepAliveTimeout: 8,
      timeout: 0,
      maxHeadersCount: 0,
    })
  })
})

describe('the hosts of a proxy', () => {
  it('are "any" or a list that is not empty', () => {
    expect(readHosts('any')).toBe('any')
    expect(readHosts(['a:1'])).toEqual(['a:1'])
    for (const hosts of [[], 'a:1', undefined]) {
      expect(() => readHosts(hosts as never)).toThrow('hosts must be "any" or a list')
    }
  })
})

describe('the secret of a proxy', () => {
  it('has at least 16 printable characters without spaces', () => {
    for (const secret of ['0123456789abcdef', '!~!~!~!~!~!~!~!~']) {
      expect(checkSecret(secret).expose()).toBe(secret)
    }
    for (const secret of [
      '',
      '0123456789abcde',
      '0123456789 abcdef',
      ' 0123456789abcdef',
      '0123456789abcdé0',
      '0123456789abcdef\n',
    ]) {
      expect(() => checkSecret(secret)).toThrow('secret must have at least 16 printable')
    }
  })

  it('is required with hosts, unless callers send their own tokens', () => {
    const read = (given: Partial<ProxyOptions>) =>
      readAuthentication(options(given), () => [new Secret(SECRET)])
    const authenticate = () => undefined
    expect(() => read({ hosts: ['a:1'] })).toThrow('secret or authenticate is required')
    expect(() => read({ hosts: ['a:1'], secret: SECRET, authenticate })).toThrow(
      'secret and authenticate cannot be combined',
    )
    expect(read({ hosts: 'any' })(undefined)).toEqual({ caller: undefined })
    expect(read({ hosts: ['a:1'], secret: SECRET })('Bearer x')).toMatchObject({ status: 401 })
    const bySecret = read({ hosts: 'any', secret: SECRET })
    expect(bySecret(undefined)).toMatchObject({ status: 401, why: 'the secret' })
    expect(bySecret(`Bearer ${SECRET}`)).toEqual({ caller: undefined })
    const byToken = read({ hosts: ['a:1'], authenticate })
    expect(byToken('Bearer x')).toMatchObject({ status: 401, why: 'the token' })
  })
})

describe('the impersonation of callers', () => {
  const line = { defaults: {} } as Line
  const authenticate = () => undefined

  it('is off by default, and needs authentication', () => {
    expect(readImpersonation(options({}), line)).toBe(false)
    expect(readImpersonation(options({ authenticate, impersonateCallers: true }), line)).toBe(true)
    expect(() => readImpersonation(options({ impersonateCallers: true }), line)).toThrow(
      'impersonateCallers needs authenticate',
    )
  })

  it('is never combined with another one', () => {
    const given = options({ authenticate, impersonateCallers: true })
    const rules = { acceptPaths: [], rejectPaths: [], rejectMethods: [], allowImpersonation: true }
    expect(() => readImpersonation({ ...given, rules }, line)).toThrow('cannot be combined')
    const jane = { defaults: { 'impersonate-user': 'jane' } } as unknown as Line
    expect(() => readImpersonation(given, jane)).toThrow('the impersonation of a kubeconfig')
    const off = { ...rules, allowImpersonation: false }
    expect(readImpersonation({ ...given, rules: off }, line)).toBe(true)
  })
})

describe('the prefix of a proxy', () => {
  it.each([
    [undefined, '/'],
    ['/', '/'],
    ['/cluster', '/cluster/'],
    ['/a.b/c~d:e-f/', '/a.b/c~d:e-f/'],
  ])('%s is read', (given, expected) => {
    expect(readPrefix(given)).toBe(expected)
  })

  it.each(['cluster', '//', '/a//b', '/.a', '/../', '/a b/', '/a?b/', 'x/a/'])(
    '%s is rejected',
    (prefix) => {
      expect(() => readPrefix(prefix)).toThrow('prefix must be a path')
    },
  )
})

describe('the rules about callers', () => {
  const isAccepted = (user: string, ...acceptCallers: string[]) =>
    isAcceptedCaller({ acceptPaths: [], rejectPaths: [], rejectMethods: [], acceptCallers }, user)

  it('accept all if they name none', () => {
    const none = { acceptPaths: [], rejectPaths: [], rejectMethods: [] }
    expect(isAcceptedCaller(none, 'jane')).toBe(true)
    expect(isAccepted('jane')).toBe(false)
  })

  it.each([
    ['jane', 'jane'],
    ['system:serviceaccount:shop:web', 'system:serviceaccount:shop:web'],
    ['system:serviceaccount:shop:web', 'system:serviceaccount:shop:*'],
  ])('accept %s with %s', (user, accepted) => {
    expect(isAccepted(user, 'other', accepted)).toBe(true)
  })

  it.each([
    ['jane2', 'jane'],
    ['system:serviceaccount:shop2:web', 'system:serviceaccount:shop:*'],
    ['system:serviceaccount:shop:web:x', 'system:serviceaccount:shop:*'],
    ['xsystem:serviceaccount:shop:web', 'system:serviceaccount:shop:*'],
    ['system:serviceaccount:shop:web', 'system:serviceaccount:*:*'],
    ['system:serviceaccount:shop:web', 'system:serviceaccount:*'],
    ['system:serviceaccount:shop:web', '*'],
    ['jane', 'j*'],
    ['x:web', 'x:*'],
  ])('do not accept %s with %s', (user, accepted) => {
    expect(isAccepted(user, accepted)).toBe(false)
  })
})
