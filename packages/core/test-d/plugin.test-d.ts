import {
  type ApiVersion,
  type ClusterFetch,
  clusterFetch,
  encodeExecCredential,
  type PluginCluster,
  type PluginContext,
  type PluginCredential,
  type PluginFunction,
  type PluginInfo,
  type Prompt,
  type PromptOptions,
  readExecInfo,
  runPlugin,
  Secret,
} from 'kubecred/plugin'
import { describe, expectTypeOf, it } from 'vitest'
import type { ClusterEntry } from '../src/kubeconfig/kubeconfig.ts'
import type { ExecCluster } from '../src/plugin/exec-info.ts'

const info: PluginInfo = { apiVersion: 'client.authentication.k8s.io/v1', interactive: false }

describe('the input of a plugin', () => {
  it('is plain data, with secrets wrapped in Secret', () => {
    expectTypeOf(readExecInfo).toBeCallableWith()
    expectTypeOf(readExecInfo).toBeCallableWith('{}')
    expectTypeOf(readExecInfo).returns.resolves.toEqualTypeOf<PluginInfo>()
    expectTypeOf<PluginInfo['apiVersion']>().toEqualTypeOf<ApiVersion>()
    expectTypeOf<PluginInfo['cluster']>().toEqualTypeOf<PluginCluster | undefined>()
    expectTypeOf<PluginCluster['proxyUrl']>().toEqualTypeOf<Secret | undefined>()
    expectTypeOf<PluginCluster['config']>().toBeUnknown()
  })

  // Upstream's TestClientAuthenticationClusterTypesAreSynced: a field that a kubeconfig gets, plugins get too.
  it('is the cluster of a kubeconfig, but for its files and extensions, and with config', () => {
    type Bookkeeping = 'name' | 'file' | 'inline'
    type Kubeconfig = Exclude<
      keyof ClusterEntry,
      Bookkeeping | 'extensions' | 'certificateAuthority'
    >
    expectTypeOf<Exclude<keyof PluginCluster, 'config'>>().toEqualTypeOf<Kubeconfig>()
    expectTypeOf<Exclude<keyof ExecCluster, 'config'>>().toEqualTypeOf<Kubeconfig>()
    type Values<C> = { [K in Kubeconfig & keyof C]-?: Exclude<C[K], undefined> }
    expectTypeOf<Values<PluginCluster>>().toEqualTypeOf<Values<Pick<ClusterEntry, Kubeconfig>>>()
  })
})

describe('the output of a plugin', () => {
  it('is a token, a certificate with its key, or all three', () => {
    expectTypeOf(encodeExecCredential).toBeCallableWith({ token: 't' }, info)
    expectTypeOf(encodeExecCredential).toBeCallableWith({ token: new Secret('t') }, info)
    const pair = { clientCertificateData: 'c', clientKeyData: new Secret('k') }
    expectTypeOf(encodeExecCredential).toBeCallableWith(pair, info)
    expectTypeOf(encodeExecCredential).toBeCallableWith({ ...pair, token: 't' }, info)
    expectTypeOf(encodeExecCredential).returns.toBeString()
  })

  it('expires at a Date, a number or a string, or never', () => {
    type Time = PluginCredential['expirationTimestamp']
    expectTypeOf<Time>().toEqualTypeOf<Date | number | string | undefined>()
  })

  it('is never empty, half a pair, or a field that no client reads', () => {
    // @ts-expect-error A certificate needs its key.
    encodeExecCredential({ clientCertificateData: 'c' }, info)
    // @ts-expect-error A key needs its certificate, also beside a token.
    encodeExecCredential({ token: 't', clientKeyData: 'k' }, info)
    // @ts-expect-error An empty answer authenticates no user.
    encodeExecCredential({}, info)
    // @ts-expect-error It is called expirationTimestamp.
    encodeExecCredential({ token: 't', expiry: 1 }, info)
    // @ts-expect-error The version of the answer comes from the input.
    encodeExecCredential({ token: 't' })
  })
})

describe('a whole plugin', () => {
  it('is a function, asynchronous or not, and does not return', () => {
    expectTypeOf(runPlugin).toBeCallableWith(() => ({ token: 't' }))
    expectTypeOf(runPlugin).toBeCallableWith(async () => ({ token: 't', expirationTimestamp: 1 }))
    expectTypeOf(runPlugin).returns.resolves.toBeNever()
    expectTypeOf<PluginFunction>().parameter(0).toEqualTypeOf<PluginContext>()
    // @ts-expect-error It must return a credential.
    const silent: PluginFunction = async () => {}
    expectTypeOf(silent).toBeFunction()
  })

  it('receives its input and helper functions', () => {
    expectTypeOf<PluginContext>().toExtend<PluginInfo>()
    expectTypeOf<PluginContext['signal']>().toEqualTypeOf<AbortSignal>()
    expectTypeOf<PluginContext['prompt']>().toEqualTypeOf<Prompt>()
    expectTypeOf<Prompt>().toBeCallableWith('Password: ', { secret: true })
    expectTypeOf<Parameters<Prompt>[1]>().toEqualTypeOf<PromptOptions | undefined>()
    expectTypeOf<PluginContext['clusterFetch']>().toBeCallableWith('/version')
    expectTypeOf<PluginContext['clusterFetch']>().returns.resolves.toEqualTypeOf<Response>()
  })
})

it('a fetch to the cluster is a fetch that can be closed', () => {
  expectTypeOf(clusterFetch).parameter(0).toEqualTypeOf<PluginInfo>()
  expectTypeOf(clusterFetch).returns.toEqualTypeOf<ClusterFetch>()
  type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  expectTypeOf<ClusterFetch>().toExtend<Fetch>()
  expectTypeOf<ClusterFetch['close']>().returns.resolves.toBeVoid()
})
