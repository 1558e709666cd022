import { describe, expect, it } from 'vitest'
import { KubeconfigInvalidError } from '../../src/errors/kubeconfig-errors.ts'
import { base64, connectionWith, FILE, thrownBy } from './build-test-connection.ts'

const V1 = 'client.authentication.k8s.io/v1'
const PEM = base64('-----BEGIN CERTIFICATE-----')
const exec = (fields: object) => ({ exec: { apiVersion: `${V1}beta1`, command: 'p', ...fields } })

describe('a selected cluster is rejected', () => {
  it.each([
    { cluster: { server: '' }, says: 'has no server', hint: 'server: https://' },
    {
      cluster: { server: 'https://' },
      says: 'server that is not a valid http',
      hint: 'https://HOST',
    },
    {
      cluster: { server: 'ftp://host' },
      says: 'server that is not a valid http',
      hint: 'https://HOST',
    },
    {
      cluster: { server: 'https://ho st' },
      says: 'server that is not a valid http',
      hint: 'https://HOST',
    },
    {
      cluster: { server: 'https://u:p@host' },
      says: 'server that is not a valid http',
      hint: 'password',
    },
    { cluster: { server: 'u@host:1' }, says: 'server that is not a valid http', hint: 'password' },
    {
      cluster: { 'certificate-authority': 'f', 'certificate-authority-data': PEM },
      says: 'both certificate-authority and certificate-authority-data',
      hint: 'Remove one',
    },
    {
      cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority': 'f' },
      says: 'both insecure-skip-tls-verify and a certificate authority',
      hint: 'Remove insecure',
    },
    {
      cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': PEM },
      says: 'both insecure-skip-tls-verify and a certificate authority',
      hint: 'Remove insecure',
    },
    { cluster: { 'proxy-url': 'socks6://p:1' }, says: 'proxy-url', hint: 'socks5://HOST' },
    { cluster: { 'proxy-url': 'proxy:8080' }, says: 'proxy-url', hint: 'socks5://HOST' },
    { cluster: { 'proxy-url': 'proxy' }, says: 'proxy-url', hint: 'socks5://HOST' },
    { cluster: { 'proxy-url': 'socks5://' }, says: 'proxy-url', hint: 'socks5://HOST' },
  ])('with $cluster', ({ cluster, says, hint }) => {
    const error = thrownBy(() => connectionWith({ cluster }))
    expect(error).toBeInstanceOf(KubeconfigInvalidError)
    expect(error.message).toContain(`cluster "k" in "${FILE}" has `)
    expect(error.message).toContain(says)
    expect(error.hint).toContain(hint)
  })

  it.each(['http://p:3128', 'https://p', 'socks5://p:1080'])('but not with the proxy %s', (url) => {
    const { cluster } = connectionWith({ cluster: { 'proxy-url': url } })
    expect(cluster.proxyUrl?.expose()).toBe(url)
  })
})

describe('a selected user is rejected', () => {
  it.each([
    {
      user: { 'client-certificate': 'c', 'client-certificate-data': PEM, 'client-key': 'k' },
      says: 'both client-certificate and client-certificate-data',
      hint: 'Remove one',
    },
    {
      user: { 'client-certificate': 'c', 'client-key': 'k', 'client-key-data': PEM },
      says: 'both client-key and client-key-data',
      hint: 'Remove one',
    },
    { user: { 'client-certificate': 'c' }, says: 'without its key', hint: 'client-key-data' },
    { user: { token: 't', username: 'ann' }, says: 'both a token and a user', hint: 'Keep either' },
    { user: { token: 't', password: 'p' }, says: 'both a token and a user', hint: 'Keep either' },
    {
      user: { ...exec({}), 'auth-provider': { name: 'gcp' } },
      says: 'both exec and auth-provider',
      hint: 'Remove one',
    },
    { user: exec({ command: '' }), says: 'without a command', hint: 'exec.command' },
    { user: exec({ apiVersion: null }), says: 'without an apiVersion', hint: V1 },
    { user: exec({ apiVersion: 'v9' }), says: 'unknown apiVersion "v9"', hint: `${V1}alpha1` },
    { user: exec({ env: [{ value: 'x' }] }), says: 'at exec.env[0]', hint: 'name and a value' },
    { user: exec({ apiVersion: V1 }), says: 'without an interactiveMode', hint: 'IfAvailable' },
    {
      user: exec({ interactiveMode: 'Maybe' }),
      says: 'unknown interactiveMode "Maybe"',
      hint: 'Never, IfAvailable, Always',
    },
    { user: { 'as-uid': '1' }, says: 'without a user', hint: 'option as' },
    { user: { 'as-groups': ['g'] }, says: 'without a user', hint: 'option as' },
    { user: { 'as-user-extra': { a: ['b'] } }, says: 'without a user', hint: 'option as' },
  ])('because of: $says', ({ user, says, hint }) => {
    const error = thrownBy(() => connectionWith({ user }))
    expect(error).toBeInstanceOf(KubeconfigInvalidError)
    expect(error.message).toContain(`user "u" in "${FILE}" `)
    expect(error.message).toContain(says)
    expect(error.hint).toContain(hint)
  })

  it.each([
    { name: 'nothing at all', user: {} },
    { name: 'a token', user: { token: 't' } },
    { name: 'a token beside a certificate', user: { token: 't', 'client-key': 'k' } },
    { name: 'certificate files', user: { 'client-certificate': 'c', 'client-key': 'k' } },
    {
      name: 'certificate from a file, key inline',
      user: { 'client-certificate': 'c', 'client-key-data': PEM },
    },
    { name: 'an empty value of a variable', user: exec({ env: [{ name: 'A', value: '' }] }) },
    { name: 'a user to impersonate', user: { as: 'x' } },
    { name: 'all of impersonation', user: { as: 'x', 'as-uid': '1', 'as-groups': ['g'] } },
    { name: 'a token file beside basic', user: { tokenFile: 'f', username: 'ann' } },
    {
      name: 'an unknown version of an unused plugin',
      user: { token: 't', ...exec({ apiVersion: 'v9' }) },
    },
  ])('but not with $name', ({ user }) => {
    expect(() => connectionWith({ user })).not.toThrow()
  })
})

it('one error has all problems of the selected entries', () => {
  const error = thrownBy(() =>
    connectionWith({
      cluster: { server: '' },
      user: exec({ command: '', apiVersion: V1 }),
      context: { namespace: 'Not_Valid' },
    }),
  )
  expect(error).toBeInstanceOf(KubeconfigInvalidError)
  expect(error instanceof KubeconfigInvalidError && error.problems).toEqual([
    expect.stringContaining('has no server'),
    expect.stringContaining('without a command'),
    expect.stringContaining('without an interactiveMode'),
    expect.stringContaining(`namespace of context "c" in "${FILE}" is not a DNS-1123 label`),
  ])
})
