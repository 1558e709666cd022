import type { KubeConfig } from '@kubernetes/client-node'
import type { KubeConfig as KubeConfig2 } from 'client-node-2'
import {
  type ClientNodeLoginOptions,
  type KubeconfigLoginOptions,
  type KubectlLoginOptions,
  type LoginMethod,
  loginViaClientNode,
  loginViaKubectl,
  loginWithKubeconfig,
  loginWithServiceAccount,
  type ReadableKubeConfig,
  type ServiceAccountLoginOptions,
} from 'kubecred/logins'
import { Vault } from 'kubecred/vault'
import { describe, expectTypeOf, it } from 'vitest'

describe('kubecred/logins', () => {
  it('has ready-made logins, and a type for custom ones', () => {
    expectTypeOf(loginWithKubeconfig).toExtend<LoginMethod<KubeconfigLoginOptions>>()
    expectTypeOf(loginWithServiceAccount).toExtend<LoginMethod<ServiceAccountLoginOptions>>()
    expectTypeOf(loginViaClientNode).toExtend<LoginMethod<ClientNodeLoginOptions>>()
    expectTypeOf(loginViaKubectl).toExtend<LoginMethod<KubectlLoginOptions>>()
    const loginViaCorp: LoginMethod<{ account: string }> = async ({ signal }, options) =>
      options && { server: 'https://one', token: `${options.account} ${signal.aborted}` }
    new Vault().onLogin(async (context) => {
      const own = await loginViaCorp(context, { account: 'x' })
      return own ?? (await loginViaClientNode(context)) ?? loginViaKubectl(context)
    })
    expectTypeOf(loginViaCorp).parameter(0).toExtend<{ signal: AbortSignal }>()
    // @ts-expect-error: a number is not a login
    const wrong: LoginMethod = () => 5
    expectTypeOf(wrong).toBeFunction()
  })

  it('accepts a KubeConfig of every client-node version', () => {
    expectTypeOf<KubeConfig>().toExtend<ReadableKubeConfig>()
    expectTypeOf<KubeConfig2>().toExtend<ReadableKubeConfig>()
  })
})
