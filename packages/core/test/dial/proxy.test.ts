import { describe, expect, it } from 'vitest'
import { parseProxyUrl, proxyFromEnvironment } from '../../src/dial/proxy.ts'
import { Secret } from '../../src/secret/secret.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'

const P = 'http://p:3128'
const SERVER = 'https://api.example:6443'
const labelFor = (server: string, env: Record<string, string>) =>
  proxyFromEnvironment(server, env)?.label

describe('the proxy from the environment', () => {
  it.each<[string, string, Record<string, string>, string | undefined]>([
    ['none is set', SERVER, {}, undefined],
    ['an empty variable is ignored', SERVER, { HTTPS_PROXY: '' }, undefined],
    ['HTTPS_PROXY for https', SERVER, { HTTPS_PROXY: P }, P],
    ['https_proxy for https', SERVER, { https_proxy: P }, P],
    ['upper case before lower', SERVER, { HTTPS_PROXY: P, https_proxy: 'http://other' }, P],
    ['lower case when upper is empty', SERVER, { HTTPS_PROXY: '', https_proxy: P }, P],
    ['not HTTP_PROXY for https', SERVER, { HTTP_PROXY: P }, undefined],
    ['HTTP_PROXY for http', 'http://api.example', { HTTP_PROXY: P }, P],
    ['http_proxy for http', 'http://api.example', { http_proxy: P }, P],
    ['not HTTPS_PROXY for http', 'http://api.example', { HTTPS_PROXY: P }, undefined],
    ['not ALL_PROXY', SERVER, { ALL_PROXY: P }, undefined],
    ['host:port without a scheme', SERVER, { HTTPS_PROXY: 'p:3128' }, P],
    ['an address without a scheme', SERVER, { HTTPS_PROXY: '10.0.0.1:8' }, 'http://10.0.0.1:8'],
    ['a login without a scheme', SERVER, { HTTPS_PROXY: 'u:w@p:3128' }, P],
    ['http has port 80', SERVER, { HTTPS_PROXY: 'http://p' }, 'http://p:80'],
    ['https has port 443', SERVER, { HTTPS_PROXY: 'https://p/' }, 'https://p:443'],
    ['socks5 has port 1080', SERVER, { HTTPS_PROXY: 'socks5://p' }, 'socks5://p:1080'],
    ['IPv6', SERVER, { HTTPS_PROXY: 'socks5://[fd00::1]' }, 'socks5://[fd00::1]:1080'],
    ['a CGI program, https', SERVER, { HTTPS_PROXY: P, REQUEST_METHOD: 'GET' }, P],
  ])('follows the rules of Go: %s', (_, server, env, label) => {
    expect(labelFor(server, env)).toBe(label)
  })

  it.each(['localhost', '127.0.0.1:6443', '127.8.8.8', '[::1]:6443', '[::ffff:127.0.0.1]'])(
    'is never used for %s',
    (host) => {
      expect(labelFor(`https://${host}`, { HTTPS_PROXY: P })).toBeUndefined()
    },
  )

  it.each(['a.localhost', 'localhost.example', '128.0.0.1', '[::2]'])('is used for %s', (host) => {
    expect(labelFor(`https://${host}`, { HTTPS_PROXY: P })).toBe(P)
  })
})

// Every row was compared with Go's httpproxy, and so were about 7,800 combinations of such rows.
describe('NO_PROXY', () => {
  it.each<[list: string, direct: readonly string[], proxied: readonly string[]]>([
    ['', [], ['foo.com']],
    ['*', ['foo.com', '10.1.2.3', '[fd00::1]'], []],
    ['a, * ,b', ['foo.com', '10.1.2.3'], []],
    ['foo.com', ['foo.com', 'a.foo.com', 'a.b.foo.com', 'foo.com:1'], ['xfoo.com', 'com']],
    ['.foo.com', ['a.foo.com'], ['foo.com', 'xfoo.com']],
    ['*.foo.com', ['a.foo.com'], ['foo.com', 'xfoo.com']],
    ['*foo.com', [], ['foo.com', 'xfoo.com']],
    ['FOO.com', ['foo.com', 'A.Foo.Com'], []],
    ['foo.com:443', ['foo.com', 'foo.com:443', 'a.foo.com'], ['foo.com:6443']],
    ['.foo.com:6443', ['a.foo.com:6443'], ['foo.com:6443', 'a.foo.com']],
    ['foo.com:', ['foo.com', 'foo.com:1'], []],
    ['foo.com:https', [], ['foo.com']],
    ['bücher.example', ['xn--bcher-kva.example'], ['bucher.example']],
    [' x , foo.com ', ['foo.com', 'x'], ['y']],
    [',,.,*.,:443', [], ['foo.com', '10.1.2.3']],
    ['foo.com/8', [], ['foo.com']],
    ['com foo.com', [], ['foo.com']],
    ['10.1.2.3', ['10.1.2.3', '10.1.2.3:1', '[::ffff:10.1.2.3]'], ['10.1.2.4', 'a.10.1.2.3.com']],
    ['10.1.2.3:443', ['10.1.2.3'], ['10.1.2.3:6443']],
    ['10.0.0.0/8', ['10.1.2.3', '10.255.0.1:9', '[::ffff:10.0.0.1]'], ['11.0.0.1', 'foo.com']],
    ['10.1.2.3/8', ['10.9.9.9'], ['11.0.0.1']],
    ['10.1.2.3/33', [], ['10.1.2.3']],
    ['0.0.0.0/0', ['10.1.2.3'], ['[fd00::1]', 'foo.com']],
    ['::/0', ['[fd00::1]'], ['10.1.2.3']],
    ['fd00::/8', ['[fd00::1]', '[fdff::1]:1'], ['[fe00::1]', '10.1.2.3']],
    ['fd00::1', ['[fd00::1]', '[fd00:0::1]:6443'], ['[fd00::2]']],
    ['[fd00::1]:443', ['[fd00::1]'], ['[fd00::1]:6443']],
    ['[fd00::1]', [], ['[fd00::1]']],
    ['fd00::1%eth0', [], ['[fd00::1]']],
  ])('matches as in Go: %j', (list, direct, proxied) => {
    const way = (host: string) => labelFor(`https://${host}`, { HTTPS_PROXY: P, NO_PROXY: list })
    expect(direct.filter((host) => way(host) !== undefined)).toEqual([])
    expect(proxied.filter((host) => way(host) === undefined)).toEqual([])
  })

  it('takes precedence over no_proxy', () => {
    const env = { HTTPS_PROXY: P, no_proxy: 'api.example' }
    expect(labelFor(SERVER, env)).toBeUndefined()
    expect(labelFor(SERVER, { ...env, NO_PROXY: 'other' })).toBe(P)
  })
})

const errorOf = (read: () => unknown): unknown => {
  try {
    read()
  } catch (error) {
    return error
  }
  throw new Error('did not throw')
}

describe('a proxy that cannot be used', () => {
  const HIDDEN = 'hidden-4711'

  it.each([
    ['HTTPS_PROXY', `socks4://u:${HIDDEN}@p:1`],
    ['HTTPS_PROXY', `socks5h://u:${HIDDEN}@p:1`],
    ['https_proxy', `ftp://${HIDDEN}`],
    ['HTTPS_PROXY', `http://u:${HIDDEN}@p:99999`],
    ['HTTPS_PROXY', `http://u:${HIDDEN}%zz@p`],
    ['https_proxy', `u ${HIDDEN}`],
  ])('is an error that names %s and not its value (%s)', (name, value) => {
    const error = errorOf(() => proxyFromEnvironment(SERVER, { [name]: value }))
    expect(error).toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
      message: expect.stringMatching(`^the environment variable ${name} `),
    })
    expectNoLeak([error], [HIDDEN])
  })

  it('is not an error if no proxy is needed', () => {
    expect(labelFor(SERVER, { HTTPS_PROXY: 'ftp://p', NO_PROXY: 'api.example' })).toBeUndefined()
    expect(labelFor(SERVER, { HTTP_PROXY: 'ftp://p' })).toBeUndefined()
  })

  it('is HTTP_PROXY in a CGI program, because a request header can set it', () => {
    const env = { HTTP_PROXY: P, REQUEST_METHOD: 'GET' }
    expect(() => proxyFromEnvironment('http://api.example', env)).toThrow(
      'the environment variable HTTP_PROXY is not used in a CGI program',
    )
  })

  it.each([
    ['an invalid percent-encoding', `http://u:${HIDDEN}%zz@p`],
    ['a password too long for SOCKS5', `socks5://u:${HIDDEN}${'x'.repeat(256)}@p`],
  ])('is an error of the kubeconfig: %s', (_, url) => {
    const error = errorOf(() => parseProxyUrl(new Secret(url), 'proxy-url'))
    expect(error).toMatchObject({ code: 'ERR_KUBECONFIG_INVALID' })
    expectNoLeak([error], [HIDDEN])
  })
})

it('user and password are decoded, and not shown', () => {
  const proxy = parseProxyUrl(new Secret('http://jane%40corp:pass%3Aword%25@p'), 'proxy-url')
  expect(proxy.login?.user.expose()).toBe('jane@corp')
  expect(proxy.login?.password.expose()).toBe('pass:word%')
  expectNoLeak([proxy], ['jane@corp', 'pass:word%', 'jane%40corp', 'pass%3Aword'])
})
