import {
  type Cluster,
  type ClusterStatus,
  type ConnectOptions,
  type ConnectPolicy,
  type Credential,
  type CredentialEvent,
  connect,
  type ExposedCredential,
  type KeeperStatus,
  type KubeconfigObject,
  type KubeconfigText,
  type Observer,
  type Secret,
  VERSION,
} from 'kubecred'
import type { VaultStatus } from 'kubecred/vault'
import { describe, expectTypeOf, it } from 'vitest'

describe('connect()', () => {
  it('has no required options and resolves with a cluster', () => {
    expectTypeOf(connect).toBeCallableWith()
    expectTypeOf(connect).toBeCallableWith({})
    expectTypeOf(connect).returns.resolves.toEqualTypeOf<Cluster>()
  })

  it('accepts options for the flags of kubectl', () => {
    expectTypeOf(connect).toBeCallableWith({
      kubeconfig: ['/a', '/b'],
      context: 'c',
      cluster: 'k',
      user: 'u',
      namespace: 'n',
      server: 'https://k',
      tlsServerName: 'k',
      certificateAuthority: '/ca',
      insecureSkipTlsVerify: false,
      proxyUrl: 'http://p',
      disableCompression: true,
      token: 't',
      username: 'u',
      password: 'p',
      clientCertificate: '/c',
      clientKey: '/k',
      as: 'jane',
      asUid: '1',
      asGroups: ['dev'],
      asUserExtra: { scope: ['a'] },
    })
  })

  it('takes paths, text or a parsed kubeconfig', () => {
    expectTypeOf<ConnectOptions['kubeconfig']>().toEqualTypeOf<
      string | readonly string[] | KubeconfigText | KubeconfigObject | undefined
    >()
    expectTypeOf(connect).toBeCallableWith({ kubeconfig: { text: '{}', folder: '/etc' } })
    expectTypeOf(connect).toBeCallableWith({
      kubeconfig: {
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
        clusters: [{ name: 'k', cluster: { server: 'https://k' } }],
        users: [{ name: 'u', user: { token: 't' } }],
      },
    })
    // @ts-expect-error A number is neither.
    expectTypeOf(connect).toBeCallableWith({ kubeconfig: 5 })
  })

  it('accepts a signal, a policy and an observer', () => {
    const observer: Observer = (event) => {
      if (event.type === 'run-failed') expectTypeOf(event.error.code).toBeString()
    }
    expectTypeOf(connect).toBeCallableWith({
      signal: new AbortController().signal,
      observer,
      policy: { refreshOn: [401, 403], pluginEnv: ['PATH'], pluginTimeoutMs: 1000 },
    })
    expectTypeOf<ConnectOptions['policy']>().toEqualTypeOf<ConnectPolicy | undefined>()
  })

  it('accepts undefined for every option, as programs pass flags that are not set', () => {
    type Optional = { [K in keyof ConnectOptions]-?: undefined }
    expectTypeOf<Optional>().toExtend<ConnectOptions>()
  })

  it('rejects unknown options', () => {
    // @ts-expect-error The option is called kubeconfig.
    const options: ConnectOptions = { kubeConfig: '/a' }
    expectTypeOf(options).toEqualTypeOf<ConnectOptions>()
  })
})

describe('a cluster', () => {
  it('has a fetch that uses the global classes', () => {
    expectTypeOf<Cluster['fetch']>().toBeCallableWith('/api/v1/pods')
    expectTypeOf<Cluster['fetch']>().toBeCallableWith(new URL('https://k'), { method: 'POST' })
    expectTypeOf<Cluster['fetch']>().toBeCallableWith(new Request('https://k'))
    expectTypeOf<Cluster['fetch']>().returns.resolves.toEqualTypeOf<Response>()
  })

  it('has a fetch that can replace the global one', () => {
    type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>
    expectTypeOf<Cluster['fetch']>().toExtend<Fetch>()
  })

  it('has its server and status as plain data', () => {
    expectTypeOf<Cluster['server']>().toBeString()
    expectTypeOf<Cluster['namespace']>().toBeString()
    expectTypeOf<Cluster['status']>().returns.toEqualTypeOf<ClusterStatus>()
    expectTypeOf<ClusterStatus['credential']>().toEqualTypeOf<KeeperStatus | VaultStatus>()
  })

  it('exposes its credential wrapped in Secret', () => {
    expectTypeOf<Cluster['credential']>().returns.resolves.toEqualTypeOf<ExposedCredential>()
    expectTypeOf<Credential['token']>().toEqualTypeOf<Secret | undefined>()
    expectTypeOf<Secret>().not.toExtend<string>()
    expectTypeOf<Secret['expose']>().returns.toBeString()
  })

  it('can be closed explicitly or at the end of its scope', () => {
    expectTypeOf<Cluster['close']>().returns.resolves.toBeVoid()
    expectTypeOf<Cluster>().toExtend<AsyncDisposable>()
  })
})

describe('an event', () => {
  it('always has a source', () => {
    expectTypeOf<CredentialEvent['source']['kind']>().toExtend<string>()
  })

  it('narrows by its type', () => {
    type Refused = Extract<CredentialEvent, { type: 'refused' }>
    expectTypeOf<Refused['status']>().toBeNumber()
  })
})

it('the version is a string', () => {
  expectTypeOf(VERSION).toExtend<string>()
})
