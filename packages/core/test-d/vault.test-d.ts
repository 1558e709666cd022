import type { KubeConfig } from '@kubernetes/client-node'
import type { KubeConfig as KubeConfig2 } from 'client-node-2'
import { type ConnectOptions, connect } from 'kubecred'
import {
  type ClientNodeLoginOptions,
  ConnectionInfo,
  type KubeconfigLoginOptions,
  type KubectlLoginOptions,
  type LoginContext,
  type LoginStatus,
  loginViaClientNode,
  loginViaKubectl,
  loginWithKubeconfig,
  loginWithServiceAccount,
  type ReadableKubeConfig,
  type ReadyMadeLogin,
  type ServiceAccountLoginOptions,
  Vault,
  type VaultOptions,
  type VaultStatus,
} from 'kubecred/vault'
import { describe, expectTypeOf, it } from 'vitest'

describe('kubecred/vault', () => {
  it('takes handlers that return fields, an info or nothing, now or later', () => {
    const vault = new Vault({ freezeLimitMs: 1000 })
    vault.onLogin(() => ({ server: 'https://one', token: 't', expiration: new Date() }))
    vault.onLogin(async () => new ConnectionInfo({ server: 'https://one' }), { id: 'info' })
    vault.onLogin(() => undefined, { attempts: 3, timeoutMs: 10, backoffMs: 5, errors: 'ignored' })
    vault.onLogin(
      async (context) => (await loginWithServiceAccount(context)) ?? loginWithKubeconfig(context),
    )
    // @ts-expect-error: a number is no login
    vault.onLogin(() => 5)
    expectTypeOf(connect).parameter(0).toEqualTypeOf<ConnectOptions | undefined>()
    expectTypeOf<ConnectOptions['vault']>().toEqualTypeOf<Vault | undefined>()
  })

  it('tells a handler why it is asked', () => {
    expectTypeOf<LoginContext['signal']>().toEqualTypeOf<AbortSignal>()
    expectTypeOf<LoginContext['attempt']>().toEqualTypeOf<number>()
  })

  it('has ready-made logins, and a type for more of them', () => {
    expectTypeOf(loginWithKubeconfig).toExtend<ReadyMadeLogin<KubeconfigLoginOptions>>()
    expectTypeOf(loginWithServiceAccount).toExtend<ReadyMadeLogin<ServiceAccountLoginOptions>>()
    expectTypeOf(loginViaClientNode).toExtend<ReadyMadeLogin<ClientNodeLoginOptions>>()
    expectTypeOf(loginViaKubectl).toExtend<ReadyMadeLogin<KubectlLoginOptions>>()
    const loginViaCorp: ReadyMadeLogin<{ account: string }> = async ({ signal }, options) =>
      options && { server: 'https://one', token: `${options.account} ${signal.aborted}` }
    new Vault().onLogin(async (context) => {
      const own = await loginViaCorp(context, { account: 'x' })
      return own ?? (await loginViaClientNode(context)) ?? loginViaKubectl(context)
    })
    expectTypeOf(loginViaCorp).parameter(0).toExtend<{ signal: AbortSignal }>()
    // @ts-expect-error: a number is no login
    const wrong: ReadyMadeLogin = () => 5
    expectTypeOf(wrong).toBeFunction()
  })

  it('takes a KubeConfig of every client-node', () => {
    expectTypeOf<KubeConfig>().toExtend<ReadableKubeConfig>()
    expectTypeOf<KubeConfig2>().toExtend<ReadableKubeConfig>()
  })

  it('tells how every handler is doing', () => {
    expectTypeOf<Vault['status']>().returns.toEqualTypeOf<VaultStatus | undefined>()
    expectTypeOf<VaultStatus['logins']>().toEqualTypeOf<readonly LoginStatus[]>()
    expectTypeOf<VaultOptions['log']>().toEqualTypeOf<'all' | 'first' | 'none' | undefined>()
  })
})
