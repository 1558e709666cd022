import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCredentialError } from '../../src/errors/credential-error.ts'
import { KubeconfigSyntaxError } from '../../src/errors/kubeconfig-errors.ts'
import { nestingDepth } from '../../src/formats/yaml.ts'
import { buildConnection } from '../../src/kubeconfig/build-connection.ts'
import { parseKubeconfig, parseKubeconfigText } from '../../src/kubeconfig/parse-kubeconfig.ts'
import { AROUND, base64, FILE, thrownBy } from './build-test-connection.ts'

const KEYS = [
  ...['apiVersion', 'kind', 'clusters', 'users', 'contexts', 'current-context', 'extensions'],
  ...['name', 'cluster', 'user', 'context', 'server', 'token', 'exec', 'args', 'env', 'value'],
  ...['certificate-authority-data', 'client-key-data', 'as-user-extra', 'auth-provider', 'config'],
  ...['__proto__', 'constructor', 'insecure-skip-tls-verify', 'proxy-url', 'command', 'extension'],
]

const anyYaml = fc.letrec((tie) => ({
  node: fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('list'), tie('mapping')),
  leaf: fc.oneof(
    fc.constantFrom<unknown>(null, true, 'v1', 'Config', 'a', 'https://a', ''),
    fc.string(),
    fc.double({ noNaN: true }),
    fc.bigInt(),
  ),
  list: fc.array(tie('node'), { maxLength: 4 }),
  mapping: fc
    .array(fc.tuple(fc.constantFrom(...KEYS), tie('node')), { maxLength: 6 })
    .map((pairs) => Object.fromEntries(pairs)),
})).node

describe('any data', () => {
  it('is a kubeconfig or causes a CredentialError', () => {
    fc.assert(
      fc.property(anyYaml, fc.boolean(), (data, wrap) => {
        const given = wrap
          ? {
              'current-context': 'a',
              contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
              clusters: [{ name: 'a', cluster: data }],
              users: [{ name: 'a', user: data }],
            }
          : data
        try {
          buildConnection(parseKubeconfig(given, FILE), {}, AROUND)
        } catch (error) {
          if (!isCredentialError(error)) throw error
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('as text is a kubeconfig or causes a CredentialError', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        try {
          parseKubeconfigText(text, FILE)
        } catch (error) {
          if (!isCredentialError(error)) throw error
        }
      }),
    )
  })
})

const MARKER = 'MARKERsEcReT7'

/** A user and a cluster with the marker in every secret field. */
function marked(): { user: Record<string, unknown>; cluster: Record<string, unknown> } {
  return {
    user: {
      token: MARKER,
      password: MARKER,
      'client-key-data': base64(MARKER),
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1beta1',
        command: 'plugin',
        args: [MARKER, `--client-secret=${MARKER}`],
        env: [{ name: 'PIN', value: MARKER }],
      },
    },
    cluster: { server: 'https://k.example', 'proxy-url': `http://user:${MARKER}@proxy:3128` },
  }
}

const providerConfig = {
  'access-token': MARKER,
  'refresh-token': MARKER,
  'id-token': MARKER,
  'client-secret': MARKER,
  'client-id': 'me',
  'idp-issuer-url': `https://user:${MARKER}@issuer.example`,
}

type Parts = ReturnType<typeof marked>

/** Each adds one invalid or unusual setting to the marked configuration. */
const DEFECTS: readonly ((parts: Parts) => void)[] = [
  () => {},
  ({ user }) => Object.assign(user, { token: [MARKER] }),
  ({ user }) => Object.assign(user, { token: { [MARKER]: 1 } }),
  ({ user }) => Object.assign(user, { username: 'ann' }),
  ({ user }) => Object.assign(user, { 'client-key-data': `${MARKER}!` }),
  ({ user }) => Object.assign(user, { 'client-certificate-data': base64(MARKER) }),
  ({ user }) => Object.assign(user, { exec: { args: MARKER } }),
  ({ user }) => Object.assign(user, { exec: { env: [{ value: MARKER }] } }),
  ({ user }) => Object.assign(user, { exec: { env: [{ name: { a: MARKER }, value: MARKER }] } }),
  ({ user }) => Object.assign(user, { exec: [MARKER] }),
  ({ user }) => Object.assign(user, { tokenFile: 'f', password: undefined }),
  ({ cluster }) => Object.assign(cluster, { server: `https://u:${MARKER}@host` }),
  ({ cluster }) => Object.assign(cluster, { server: `ftp://u:${MARKER}@host` }),
  ({ cluster }) => Object.assign(cluster, { server: 'http://plain' }),
  ({ cluster }) => Object.assign(cluster, { server: 'plain:8080' }),
  ({ cluster }) => Object.assign(cluster, { server: undefined }),
  ({ cluster }) => Object.assign(cluster, { 'proxy-url': MARKER }),
  ({ cluster }) => Object.assign(cluster, { 'proxy-url': `${MARKER}:secret@host` }),
  ({ cluster }) => Object.assign(cluster, { 'proxy-url': `socks6://${MARKER}@host` }),
  ...['gcp', 'azure', 'oidc', 'openstack'].map((name) => ({ user }: Parts) => {
    for (const key of Object.keys(user)) delete user[key]
    Object.assign(user, { 'auth-provider': { name, config: providerConfig } })
  }),
]

function saidAbout(parts: Parts, overrides: object): string {
  const data = {
    clusters: [{ name: 'k', cluster: parts.cluster }],
    users: [{ name: 'u', user: parts.user }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace: 'n' } }],
    'current-context': 'c',
  }
  try {
    const { warnings } = buildConnection(parseKubeconfig(data, FILE), overrides, AROUND)
    return warnings.join('\n')
  } catch (error) {
    if (!isCredentialError(error)) throw error
    return [error.message, error.hint, JSON.stringify(error), error.stack].join('\n')
  }
}

describe('errors and warnings contain no secret', () => {
  it('whatever is wrong with the entries', () => {
    const overrides = [{}, { token: MARKER }, { username: 'a', password: MARKER, token: MARKER }]
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom(...DEFECTS), { minLength: 1, maxLength: 3 }),
        fc.subarray(['token', 'password', 'client-key-data', 'exec']),
        fc.constantFrom(...overrides),
        (defects, without, flags) => {
          const parts = marked()
          for (const key of without) delete parts.user[key]
          for (const defect of defects) defect(parts)
          expect(saidAbout(parts, flags)).not.toContain(MARKER)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('a hostile file', () => {
  it('cannot change prototypes through names', () => {
    const config = parseKubeconfigText(
      `
clusters: [{name: __proto__, cluster: {server: 'https://k', __proto__: {disable-compression: true}}}]
users: [{name: constructor, user: {as: a, as-user-extra: {__proto__: [x]}}}]
contexts: [{name: toString, context: {cluster: __proto__, user: constructor}}]
current-context: toString
__proto__: {polluted: true}
`,
      FILE,
    )
    const connection = buildConnection(config, {}, AROUND)
    expect(connection.cluster).toMatchObject({ name: '__proto__', disableCompression: false })
    expect(Object.keys(connection.user.impersonate?.extra ?? {})).toEqual(['__proto__'])
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('has no fields from a prototype', () => {
    const config = parseKubeconfig(Object.create({ 'current-context': 'inherited' }), FILE)
    expect(config.currentContext).toBeUndefined()
  })

  it('has no entries with the names of Object.prototype', () => {
    const error = thrownBy(() =>
      buildConnection(parseKubeconfig({ 'current-context': 'toString' }, FILE), {}, AROUND),
    )
    expect(error.code).toBe('ERR_CONTEXT_NOT_FOUND')
  })

  it('can have 20,000 users', () => {
    const users = Array.from({ length: 20_000 }, (_, index) => `- name: u${index}\n`).join('')
    expect(parseKubeconfigText(`users:\n${users}`, FILE).users.size).toBe(20_000)
  })

  it.each([
    { name: 'open lists', text: '['.repeat(100_000) },
    { name: 'closed lists', text: '['.repeat(100_000) + ']'.repeat(100_000) },
    { name: 'mappings', text: '{a: '.repeat(100_000) },
    { name: 'dashes', text: '- '.repeat(100_000) },
    { name: 'dashes and tabs', text: '-\t'.repeat(100_000) },
    { name: 'question marks', text: `${'? '.repeat(100_000)}x` },
    {
      name: 'indentation',
      text: Array.from({ length: 3000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
    },
  ])('nested too deep with $name is rejected', ({ text }) => {
    const error = thrownBy(() => parseKubeconfigText(text, FILE))
    expect(error).toBeInstanceOf(KubeconfigSyntaxError)
    expect(error.message).toContain('nested more than')
  })

  it.each([
    { name: 'lines', text: 'a: *b\n'.repeat(1_000_000) },
    { name: 'plain lines (times two)', text: 'a: b\n'.repeat(2_000_001) },
    { name: 'items of JSON (times two)', text: `{"a":[${'{},'.repeat(2_000_001)}1]}` },
    { name: 'empty lines', text: ' \n'.repeat(1_000_000) },
    { name: 'items', text: `[${'a,'.repeat(1_000_000)}]` },
  ])('with a million $name is rejected before it is parsed', ({ text }) => {
    const error = thrownBy(() => parseKubeconfigText(text, FILE))
    expect(error).toBeInstanceOf(KubeconfigSyntaxError)
    expect(error.message).toContain('lines and list items')
  })

  it('with aliases of aliases is rejected', () => {
    const levels = Array.from({ length: 20 }, (_, level) => {
      const items = level === 0 ? 'x' : Array.from({ length: 10 }, () => `*a${level - 1}`).join(',')
      return `- &a${level} [${items}]`
    })
    const error = thrownBy(() => parseKubeconfigText(`bomb:\n${levels.join('\n')}`, FILE))
    expect(error).toBeInstanceOf(KubeconfigSyntaxError)
  })

  it('cannot put control characters into messages through names', () => {
    const name = 'a\u001b[2J\u009bm\nb'
    const error = thrownBy(() => parseKubeconfig({ users: [{ name, user: 'x' }] }, FILE))
    expect(error.message).not.toMatch(/\p{Cc}/u)
  })
})

describe('nestingDepth', () => {
  it.each([
    ['a: 1', 1],
    ['users:\n- name: a\n  user:\n    exec:\n      args: [x, {y: z}]\n', 6],
    ['a:\n  b:\n    c: 1\nd:\n  e: 1\n', 3],
    ['- - - x', 4],
    ['\n\n  \n', 0],
  ])('is not too low for %j', (text, depth) => {
    expect(nestingDepth(text)).toBe(depth)
  })
})
