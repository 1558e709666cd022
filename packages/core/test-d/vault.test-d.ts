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
  it('accepts handlers that return fields, an info or undefined, or a promise', () => {
    const vault = new Vault({ freezeLimitMs: 1000 })
    vault.onLogin(() => ({ server: 'https://one', token: 't', expiration: new Date() }))
    vault.onLogin(async () => new ConnectionInfo({ server: 'https://one' }), { id: 'info' })
    vault.onLogin(() => undefined, { attempts: 3, timeoutMs: 10, backoffMs: 5, errors: 'ignored' })
    vault.onLogin(
      async (context) => (await loginWithServiceAccount(context)) ?? loginWithKubeconfig(context),
    )
    // @ts-expect-error: a number is not a login
    vault.onLogin(() => 5)
    expectTypeOf(connect).parameter(0).toEqualTypeOf<ConnectOptions | undefined>()
    expectTypeOf<ConnectOptions['vault']>().toEqualTypeOf<Vault | undefined>()
  })

  it('passes the signal and the attempt to a handler', () => {
    expectTypeOf<LoginContext['signal']>().toEqualTypeOf<AbortSignal>()
    expectTypeOf<LoginContext['attempt']>().toEqualTypeOf<number>()
  })

  it('has the status of every handler', () => {
    expectTypeOf<Vault['status']>().returns.toEqualTypeOf<VaultStatus | undefined>()
    expectTypeOf<VaultStatus['logins']>().toEqualTypeOf<readonly LoginStatus[]>()
    expectTypeOf<VaultOptions['log']>().toEqualTypeOf<'all' | 'first' | 'none' | undefined>()
  })
})
