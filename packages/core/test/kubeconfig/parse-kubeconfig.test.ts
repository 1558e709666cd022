import { describe, expect, it } from 'vitest'
import { KubeconfigSyntaxError } from '../../src/errors/kubeconfig-errors.ts'
import { parseKubeconfig, parseKubeconfigText } from '../../src/kubeconfig/parse-kubeconfig.ts'
import { base64, FILE, thrownBy } from './build-test-connection.ts'

describe('a kubeconfig file', () => {
  it.each([
    { name: 'can be empty', data: null },
    { name: 'can be an empty mapping', data: {} },
    {
      name: 'can have null instead of lists',
      data: { clusters: null, users: null, contexts: null },
    },
    { name: 'can have kind and apiVersion', data: { kind: 'Config', apiVersion: 'v1' } },
    { name: 'can have unknown keys', data: { preferences: { colors: true }, more: [1] } },
  ])('$name', ({ data }) => {
    const config = parseKubeconfig(data, FILE)
    expect([config.clusters.size, config.users.size, config.contexts.size]).toEqual([0, 0, 0])
    expect(config.currentContext).toBeUndefined()
  })

  it.each(['e1', 'E5', '.e1', '12e4567'])(
    'reads the name %s as a string, as kubectl does',
    (name) => {
      const text = `users:\n- name: ${name}\n  user: {token: ${name}}\ncurrent-context: ${name}\n`
      const config = parseKubeconfigText(text, FILE)
      expect(config.currentContext).toBe(name)
      expect(config.users.get(name)?.token?.expose()).toBe(name)
    },
  )

  it('has the name and file of every entry', () => {
    const config = parseKubeconfig(
      {
        clusters: [{ name: 'k', cluster: { server: 'https://k', 'tls-server-name': 't' } }],
        users: [{ name: 'u', user: null }],
        contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace: 'n' } }],
        'current-context': 'c',
      },
      FILE,
    )
    expect(config.clusters.get('k')).toMatchObject({ name: 'k', file: FILE, tlsServerName: 't' })
    expect(config.users.get('u')).toMatchObject({ name: 'u', file: FILE })
    expect(config.contexts.get('c')).toMatchObject({ cluster: 'k', user: 'u', namespace: 'n' })
    expect(config.files).toEqual([FILE])
  })

  it('keeps extensions as plain data', () => {
    const extension = { kind: 'X', deep: [{ n: 12345678901234567890n }] }
    const config = parseKubeconfig({
      extensions: [{ name: 'a', extension }],
      clusters: [{ name: 'k', cluster: { extensions: [{ name: 'b', extension }] } }],
    })
    expect(config.extensions.get('a')).toEqual(extension)
    expect(config.clusters.get('k')?.extensions.get('b')).toEqual(extension)
  })

  it('wraps every secret in Secret', () => {
    const marker = 'SECRET-MARKER'
    const config = parseKubeconfig({
      clusters: [{ name: 'k', cluster: { 'proxy-url': `http://u:${marker}@p` } }],
      users: [
        {
          name: 'u',
          user: {
            token: marker,
            password: marker,
            'client-key-data': base64(marker),
            exec: { args: [marker], env: [{ name: 'N', value: marker }] },
            'auth-provider': { name: 'oidc', config: { 'client-secret': marker } },
          },
        },
      ],
    })
    const shown = JSON.stringify([...config.users, ...config.clusters], (_, value) =>
      value instanceof Map ? [...value] : value,
    )
    expect(shown).not.toContain(marker)
    expect(config.users.get('u')?.token?.expose()).toBe(marker)
    expect(config.users.get('u')?.clientKeyData?.expose()).toBe(marker)
  })

  it('decodes inline data with line breaks', () => {
    const encoded = base64('-----BEGIN CERTIFICATE-----\nabc\n').replace(/.{8}/g, '$&\n')
    const config = parseKubeconfig({
      clusters: [{ name: 'k', cluster: { 'certificate-authority-data': encoded } }],
    })
    expect(config.clusters.get('k')?.certificateAuthorityData).toContain('BEGIN CERTIFICATE')
  })
})

describe('an error in a kubeconfig file', () => {
  const user = (fields: object): object => ({
    users: [{ name: 'a' }, { name: 'b' }, { name: 'prod', user: fields }],
  })
  const cluster = (fields: object): object => ({ clusters: [{ name: 'k', cluster: fields }] })

  it.each([
    [user({ token: 123456 }), 'users[2] "prod".token must be a string, not a number', 'quotes'],
    [user({ token: 2n ** 70n }), 'users[2] "prod".token must be a string, not a number', 'quotes'],
    [
      user({ username: true }),
      'users[2] "prod".username must be a string, not a boolean',
      'quotes',
    ],
    [user({ password: ['x'] }), '"prod".password must be a string, not a list', 'Write a string'],
    [user({ exec: 'aws' }), '"prod".exec must be a mapping, not a string', 'key: value'],
    [user({ exec: { args: 'x' } }), '"prod".exec.args must be a list, not a string', 'dash'],
    [user({ exec: { args: ['x', 1] } }), '"prod".exec.args[1] must be a string', 'quotes'],
    [user({ exec: { env: [{ name: 'A', value: 1 }] } }), '.exec.env[0].value must be', 'quotes'],
    [user({ exec: { env: ['A=b'] } }), '"prod".exec.env[0] must be a mapping', 'key: value'],
    [
      user({ exec: { provideClusterInfo: 'true' } }),
      'must be true or false, not a string',
      'without',
    ],
    [user({ 'as-user-extra': { k: 'v' } }), '.as-user-extra.k must be a list', 'dash'],
    [user({ 'auth-provider': { config: { a: 1 } } }), '.auth-provider.config.a must be', 'quotes'],
    [cluster({ server: 8080 }), 'clusters[0] "k".server must be a string', 'quotes'],
    [cluster({ 'insecure-skip-tls-verify': 'yes' }), 'must be true or false', 'without quotes'],
    [cluster({ extensions: {} }), 'clusters[0] "k".extensions must be a list', 'dash'],
    [{ users: {} }, 'users must be a list, not a mapping', 'dash'],
    [{ users: ['x'] }, 'users[0] must be a mapping, not a string', 'key: value'],
    [{ contexts: [{ name: 1 }] }, 'contexts[0].name must be a string', 'quotes'],
    [{ 'current-context': 1 }, 'current-context must be a string', 'quotes'],
    ['text', 'the document must be a mapping, not a string', 'key: value'],
    [[1], 'the document must be a mapping, not a list', 'key: value'],
    [{ kind: 'Pod' }, 'kind must be "Config"', 'another Kubernetes manifest'],
    [{ apiVersion: 'v2' }, 'apiVersion must be "v1"', 'another Kubernetes manifest'],
    [user({ 'client-key-data': '!!!!' }), '.client-key-data is not valid base64', 'client-key.'],
    [user({ 'client-certificate-data': 'abc' }), 'client-certificate-data is not', 'base64 -w0'],
    [cluster({ 'certificate-authority-data': 'YQ' }), 'authority-data is not valid', 'base64'],
  ])('is reported with file, entry and remedy: %#', (data, message, hint) => {
    const error = thrownBy(() => parseKubeconfig(data, FILE))
    expect(error).toBeInstanceOf(KubeconfigSyntaxError)
    expect(error.message).toContain(JSON.stringify(FILE))
    expect(error.message).toContain(message)
    expect(error.hint).toContain(hint)
  })

  it.each([
    { list: 'clusters', data: { clusters: [{ name: 'x' }, { name: 'y' }, { name: 'x' }] } },
    { list: 'users', data: { users: [{ name: 'x' }, { name: 'y' }, { name: 'x' }] } },
    { list: 'contexts', data: { contexts: [{ name: 'x' }, { name: 'y' }, { name: 'x' }] } },
    {
      list: 'extensions',
      data: { extensions: ['x', 'y', 'x'].map((name) => ({ name, extension: {} })) },
    },
  ])('is a duplicate name in $list', ({ list, data }) => {
    const error = thrownBy(() => parseKubeconfig(data, FILE))
    expect(error.message).toContain(`${list} has a duplicate name "x" in list`)
    expect(error.message).toContain('at positions 0 and 2')
  })

  it('is not an extension without content followed by one of the same name', () => {
    const extensions = [
      { name: 'x', extension: null },
      { name: 'x', extension: 1 },
    ]
    expect(parseKubeconfig({ extensions }).extensions.get('x')).toBe(1)
  })

  it('of YAML syntax is reported with its line, without the text', () => {
    const text = 'users:\n- name: a\n  user: {token: "SECRET-MARKER\n'
    const error = thrownBy(() => parseKubeconfigText(text, FILE))
    expect(error).toBeInstanceOf(KubeconfigSyntaxError)
    expect(error.message).toMatch(/line \d/)
    expect(error.message).not.toContain('SECRET-MARKER')
  })
})
