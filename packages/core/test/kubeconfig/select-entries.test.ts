import { describe, expect, it } from 'vitest'
import { buildConnection } from '../../src/kubeconfig/build-connection.ts'
import { parseKubeconfig } from '../../src/kubeconfig/parse-kubeconfig.ts'
import { AROUND, EMPTY, FILE, thrownBy } from './build-test-connection.ts'

const config = parseKubeconfig(
  {
    clusters: [
      { name: 'k1', cluster: { server: 'https://k1' } },
      { name: 'k2', cluster: { server: 'https://k2' } },
      { name: 'blank', cluster: {} },
      { name: 'broken', cluster: { server: 'nonsense://', 'proxy-url': 'x' } },
    ],
    users: [
      { name: 'u1', user: { token: 't1' } },
      { name: 'u2', user: { token: 't2' } },
      { name: 'broken', user: { exec: {}, 'auth-provider': { name: 'gcp' } } },
    ],
    contexts: [
      { name: 'c1', context: { cluster: 'k1', user: 'u1', namespace: 'one' } },
      { name: 'c2', context: { cluster: 'k2', user: 'u2' } },
      { name: 'anonymous', context: { cluster: 'k1' } },
      { name: 'no-cluster', context: { user: 'u1' } },
      { name: 'lost-user', context: { cluster: 'k1', user: 'gone' } },
      { name: 'lost-cluster', context: { cluster: 'gone', user: 'u1' } },
      { name: 'blank', context: { cluster: 'blank', user: 'u1' } },
    ],
    'current-context': 'c1',
  },
  FILE,
)
const connect = (overrides: object) => buildConnection(config, overrides, AROUND)

describe('the connection', () => {
  it.each([
    { name: 'uses current-context', flags: {}, is: ['c1', 'k1', 'u1', 'one'] },
    {
      name: 'prefers --context',
      flags: { context: 'c2' },
      is: ['c2', 'k2', 'u2', 'default'],
    },
    { name: 'prefers --cluster', flags: { cluster: 'k2' }, is: ['c1', 'k2', 'u1', 'one'] },
    { name: 'prefers --user', flags: { user: 'u2' }, is: ['c1', 'k1', 'u2', 'one'] },
    { name: 'prefers --namespace', flags: { namespace: 'two' }, is: ['c1', 'k1', 'u1', 'two'] },
    {
      name: 'ignores empty flags',
      flags: { context: '', user: '' },
      is: ['c1', 'k1', 'u1', 'one'],
    },
  ])('$name', ({ flags, is }) => {
    const made = connect(flags)
    expect([made.context, made.cluster.name, made.user.name, made.namespace]).toEqual(is)
    expect(made.origin).toBe(FILE)
    expect(made.warnings).toEqual([])
  })

  it('is anonymous only if the context has no user', () => {
    expect(connect({ context: 'anonymous' }).user).toEqual({})
  })

  it('does not validate entries that are not selected', () => {
    expect(() => connect({})).not.toThrow()
    expect(() => connect({ user: 'broken' })).toThrow('exec')
    expect(() => connect({ cluster: 'broken' })).toThrow('proxy-url')
  })

  it('needs no kubeconfig if --server is given', () => {
    const made = buildConnection(EMPTY, { server: 'https://flag', token: 't' }, AROUND)
    expect(made).toMatchObject({ origin: 'flags', namespace: 'default' })
    expect(made.cluster).toEqual({
      server: 'https://flag',
      insecureSkipTlsVerify: false,
      disableCompression: false,
    })
    expect(made.user.token?.expose()).toBe('t')
    expect(made).not.toHaveProperty('context')
  })
})

describe('a name without an entry', () => {
  it.each([
    {
      flags: { context: 'x' },
      code: 'ERR_CONTEXT_NOT_FOUND',
      says: '"x", named by option context,',
    },
    {
      flags: { user: 'x' },
      code: 'ERR_USER_NOT_FOUND',
      says: 'user "x", named by option user, does',
    },
    {
      flags: { cluster: 'x' },
      code: 'ERR_CLUSTER_NOT_FOUND',
      says: 'cluster "x", named by option cluster,',
    },
    {
      flags: { context: 'lost-user' },
      code: 'ERR_USER_NOT_FOUND',
      says: `user "gone", named by context "lost-user" in "${FILE}", does not exist`,
    },
    {
      flags: { context: 'lost-cluster' },
      code: 'ERR_CLUSTER_NOT_FOUND',
      says: `cluster "gone", named by context "lost-cluster" in "${FILE}", does not exist`,
    },
    {
      flags: { context: 'no-cluster' },
      code: 'ERR_KUBECONFIG_INVALID',
      says: `context "no-cluster" in "${FILE}" has no cluster`,
    },
    {
      flags: { context: 'blank' },
      code: 'ERR_KUBECONFIG_INVALID',
      says: `cluster "blank" in "${FILE}" has no server`,
    },
  ])('is an error: $says', ({ flags, code, says }) => {
    const error = thrownBy(() => connect(flags))
    expect(error.code).toBe(code)
    expect(error.message).toContain(says)
    expect(error.hint).toMatch(/Use one of|Add/)
  })

  it('in current-context is an error that has the file', () => {
    const lost = parseKubeconfig({ 'current-context': 'x', contexts: [{ name: 'c' }] }, FILE)
    const error = thrownBy(() => buildConnection(lost, { server: 'https://s' }, AROUND))
    expect(error.code).toBe('ERR_CONTEXT_NOT_FOUND')
    expect(error.hint).toContain(FILE)
    expect(error.hint).toContain('available: "c"')
  })

  it('is a warning if options replace the entry', () => {
    const user = connect({ context: 'lost-user', token: 't' })
    expect(user.warnings).toEqual([expect.stringContaining('user "gone"')])
    const cluster = connect({ context: 'lost-cluster', server: 'https://s' })
    expect(cluster.warnings).toEqual([expect.stringContaining('cluster "gone"')])
    expect(cluster.cluster.server).toBe('https://s')
  })
})

describe('no configuration', () => {
  it('is an error with its own code', () => {
    expect(thrownBy(() => buildConnection(EMPTY, {}, AROUND)).code).toBe('ERR_KUBECONFIG_EMPTY')
  })

  it('is also a kubeconfig without current-context, and the hint lists the contexts', () => {
    const unset = parseKubeconfig({ contexts: [{ name: 'c' }], clusters: [{ name: 'k' }] }, FILE)
    const error = thrownBy(() => buildConnection(unset, {}, AROUND))
    expect(error.code).toBe('ERR_KUBECONFIG_EMPTY')
    expect(error.message).toContain(`current-context is not set in "${FILE}"`)
    expect(error.hint).toContain('"c"')
  })
})
