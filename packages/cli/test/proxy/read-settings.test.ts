import { DEFAULT_RULES } from 'kubecred/proxy'
import { describe, expect, it } from 'vitest'
import type { FlagName } from '../../src/flags/flag-table.ts'
import { FlagValues } from '../../src/flags/flag-values.ts'
import { checkAddress, hostAt, isLoopback, ownHosts } from '../../src/proxy/address.ts'
import { CleanupStack } from '../../src/proxy/cleanup-stack.ts'
import { asHosts, readHostNames } from '../../src/proxy/host-names.ts'
import { readSettings } from '../../src/proxy/read-settings.ts'

type Given = Partial<Record<FlagName, string>>
const read = (given: Given = {}) =>
  readSettings(
    new FlagValues(
      new Map(Object.entries(given).map(([name, value]) => [name as FlagName, [value]])),
    ),
  )

describe('the settings of a proxy', () => {
  it('are safe without flags: on this machine only, with the rules of kubectl proxy', () => {
    expect(read()).toEqual({
      listenAddress: { kind: 'port', address: '127.0.0.1', port: 8001 },
      rules: { ...DEFAULT_RULES, readOnly: false, acceptCallers: undefined },
      prefix: '/',
      hostNames: [],
      secretFile: undefined,
      callers: undefined,
      tls: undefined,
      healthPort: undefined,
      pagePort: 0,
      pageSecretFile: undefined,
      hasMetrics: false,
      logFormat: undefined,
      delayMs: 0,
      graceMs: 10_000,
    })
  })

  it.each<[string, Given, object]>([
    ['a port', { port: '0' }, { listenAddress: { kind: 'port', address: '127.0.0.1', port: 0 } }],
    ['the last port', { port: '65535' }, { listenAddress: { port: 65_535 } }],
    ['an address', { address: '::1' }, { listenAddress: { address: '::1' } }],
    [
      'an address for others',
      { address: '0.0.0.0', 'allow-remote': 'true' },
      { listenAddress: { address: '0.0.0.0' } },
    ],
    ['a socket', { 'unix-socket': '/s' }, { listenAddress: { kind: 'socket', path: '/s' } }],
    ['a prefix', { 'api-prefix': '/k8s' }, { prefix: '/k8s/' }],
    ['a whole prefix', { 'api-prefix': '/k8s/a.b/' }, { prefix: '/k8s/a.b/' }],
    ['names', { 'accept-hosts': 'a.test,^b$' }, { hostNames: ['a.test', 'b'] }],
    ['a secret', { 'secret-file': '/s' }, { secretFile: '/s' }],
    [
      'a certificate',
      { 'tls-cert-file': '/c', 'tls-key-file': '/k' },
      { tls: { certificate: '/c', key: '/k' } },
    ],
    ['a health port', { 'health-port': '9' }, { healthPort: 9 }],
    ['no page', { 'no-page': 'true' }, { pagePort: undefined }],
    [
      'metrics without a page',
      { 'no-page': 'true', metrics: 'true', 'health-port': '9' },
      { hasMetrics: true, healthPort: 9, pagePort: undefined },
    ],
    ['metrics on the page', { metrics: 'true' }, { hasMetrics: true, pagePort: 0 }],
    [
      'a page',
      { 'page-port': '9', 'page-secret-file': '/p' },
      { pagePort: 9, pageSecretFile: '/p' },
    ],
    ['a log', { 'log-format': 'json' }, { logFormat: 'json' }],
    ['another log', { 'log-format': 'text' }, { logFormat: 'text' }],
    [
      'times',
      { 'shutdown-delay': '2', 'shutdown-grace': '1m30s' },
      { delayMs: 2000, graceMs: 90_000 },
    ],
    [
      'rules',
      {
        'accept-paths': '^/a,b',
        'reject-paths': 'c',
        'reject-methods': 'PUT',
        'read-only': 'true',
      },
      {
        rules: {
          acceptPaths: [/^\/a/s, /b/s],
          rejectPaths: [/c/s],
          rejectMethods: [/PUT/s],
          readOnly: true,
        },
      },
    ],
    [
      'callers',
      {
        'authenticate-callers': 'true',
        'accept-callers': 'shop/web, shop/*',
        'caller-audiences': 'a,,b',
      },
      {
        callers: {
          audiences: ['a', 'b'],
          accepted: ['system:serviceaccount:shop:web', 'system:serviceaccount:shop:*'],
          isImpersonating: false,
        },
        rules: {
          acceptCallers: ['system:serviceaccount:shop:web', 'system:serviceaccount:shop:*'],
        },
      },
    ],
    [
      'all callers, with their own rights',
      { 'authenticate-callers': 'true', 'impersonate-callers': 'true' },
      { callers: { audiences: [], accepted: undefined, isImpersonating: true } },
    ],
  ])('have %s', (_, given, expected) => {
    expect(read(given)).toMatchObject(expected)
  })

  it('have expressions whose dots match every character, as in Go', () => {
    const { rules } = read({ 'reject-paths': 'a.b' })
    expect(rules.rejectPaths.map(({ source, flags }) => [source, flags])).toEqual([['a.b', 's']])
  })

  it.each<[Given, string]>([
    [{ port: '65536' }, '--port takes a number from 0 to 65535, not "65536"'],
    [{ port: '1e3' }, '--port takes a number'],
    [{ port: ' 1' }, '--port takes a number'],
    [{ 'no-page': 'true', 'page-secret-file': '/p' }, '--no-page and --page-secret-file cannot'],
    [{ 'unix-socket': '/s', 'accept-hosts': 'a' }, '--unix-socket and --accept-hosts cannot'],
    [{ 'unix-socket': '/s', 'allow-remote': 'true' }, '--unix-socket and --allow-remote cannot'],
    [
      { 'unix-socket': '/s', 'tls-cert-file': '/c', 'tls-key-file': '/k' },
      '--unix-socket and --tls-cert-file cannot',
    ],
    [{ 'tls-key-file': '/k' }, '--tls-cert-file and --tls-key-file must be used together'],
    [{ 'api-prefix': '/a//b' }, '--api-prefix takes a path'],
    [{ 'api-prefix': 'x/a/' }, '--api-prefix takes a path'],
    [{ 'shutdown-grace': '1000h' }, '--shutdown-grace takes seconds'],
    [{ 'reject-paths': 'a, ' }, 'is invalid: it is empty'],
    [{ 'accept-paths': '(' }, '"(" is invalid: '],
    [{ 'authenticate-callers': 'false', 'accept-callers': 'a/b' }, 'needs --authenticate-callers'],
    [{ 'authenticate-callers': 'true' }, 'needs --impersonate-callers, or --accept-callers'],
    [{ 'authenticate-callers': 'true', 'accept-callers': 'a/b/c' }, '--accept-callers takes'],
    [{ 'authenticate-callers': 'true', 'accept-callers': 'a/*b' }, '--accept-callers takes'],
    [{ 'authenticate-callers': 'true', 'accept-callers': 'A/b' }, '--accept-callers takes'],
    [
      { 'authenticate-callers': 'true', 'accept-callers': 'a/b', 'secret-file': '/s' },
      '--authenticate-callers and --secret-file cannot',
    ],
  ])('are rejected: %j', (given, message) => {
    expect(() => read(given)).toThrow(message)
  })
})

describe('an address', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('%s is on this machine', (address) => {
    expect(isLoopback(address)).toBe(true)
    expect(() => checkAddress(address, false)).not.toThrow()
  })

  it.each(['0.0.0.0', '::', '10.0.0.1', '2001:db8::1', '227.0.0.1', '::11'])(
    '%s needs consent',
    (address) => {
      expect(isLoopback(address)).toBe(false)
      expect(() => checkAddress(address, false)).toThrow('add --allow-remote')
      expect(() => checkAddress(address, true)).not.toThrow()
    },
  )

  it.each(['localhost.evil.example', 'xlocalhost', '127.0.0.1.evil.example', ''])(
    '%j is not an address, with consent or without',
    (address) => {
      for (const mayBeRemote of [true, false]) {
        expect(() => checkAddress(address, mayBeRemote)).toThrow('--address takes an IP address')
      }
    },
  )

  it('is written as in a URL', () => {
    expect([hostAt('::1', 5), hostAt('10.0.0.1', 5)]).toEqual(['[::1]:5', '10.0.0.1:5'])
  })
})

describe('the accepted hosts of a listener', () => {
  it.each([
    ['127.0.0.1', ['localhost:1', '127.0.0.1:1']],
    ['::1', ['localhost:1', '[::1]:1']],
    ['10.1.2.3', ['10.1.2.3:1']],
  ])('on %s are its own names', (address, hosts) => {
    expect(ownHosts(address, 1)).toEqual(hosts)
  })

  it('on all addresses are those of this machine, and not the wildcard', () => {
    const hosts = ownHosts('0.0.0.0', 1)
    expect(hosts).toContain('127.0.0.1:1')
    expect(hosts).not.toContain('0.0.0.0:1')
  })
})

describe('the accepted host names', () => {
  it.each([
    [undefined, []],
    ['', []],
    [',a,', ['a']],
    ['a.b-c_d.test:80', ['a.b-c_d.test:80']],
    [' ^a\\.test$ ', ['a.test']],
    ['[::1]:80', ['[::1]:80']],
  ])('are read from %j', (text, names) => {
    expect(readHostNames(text)).toEqual(names)
  })

  it.each([
    '*',
    'a.',
    '.a',
    'a..b',
    'a|b',
    'a:123456',
    'a:',
    'a b',
    '^^a',
    'a^b',
    'a$b',
    'a$$',
    '[g]',
    'a/b',
  ])('are not read from %s', (text) => {
    expect(() => readHostNames(text)).toThrow('--accept-hosts takes names')
  })

  it('are accepted with our port and without one, unless they have a port', () => {
    expect(asHosts(['a', 'b:10', '[::1]'], 8001)).toEqual([
      'a',
      'a:8001',
      'b:10',
      '[::1]',
      '[::1]:8001',
    ])
  })
})

describe('what is cleaned up', () => {
  it('ends in reverse order, all of it, and then with the first error', async () => {
    const stack = new CleanupStack()
    const order: number[] = []
    stack.add(() => order.push(1))
    stack.add(async () => {
      order.push(2)
      throw new Error('second')
    })
    stack.add(() => {
      order.push(3)
      throw new Error('third')
    })
    await expect(stack.run()).rejects.toThrow('third')
    expect(order).toEqual([3, 2, 1])
    await stack.run()
    expect(order).toHaveLength(3)
  })
})
