import { type ConnectOptions, connect } from 'kubecred'
import { loginWithKubeconfig, loginWithServiceAccount } from 'kubecred/logins'
import {
  ConnectionInfo,
  type LoginContext,
  type LoginStatus,
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

  it('tells how every handler is doing', () => {
    expectTypeOf<Vault['status']>().returns.toEqualTypeOf<VaultStatus | undefined>()
    expectTypeOf<VaultStatus['logins']>().toEqualTypeOf<readonly LoginStatus[]>()
    expectTypeOf<VaultOptions['log']>().toEqualTypeOf<'all' | 'first' | 'none' | undefined>()
  })
})
