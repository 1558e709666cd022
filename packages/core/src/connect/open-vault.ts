import { LoginToolFailedError } from '../errors/index.ts'
import { findClientNode, loginViaClientNode } from '../logins/client-node.ts'
import { loginWithKubeconfig, loginWithServiceAccount } from '../logins/kubeconfig.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { systemClock } from '../node/system-clock.ts'
import type { ConnectionInfo } from '../vault/connection-info.ts'
import type { RegisteredHandler } from '../vault/log-in.ts'
import type { LoginContext } from '../vault/login-handler.ts'
import type { Vault } from '../vault/vault.ts'
import type { VaultAccess } from '../vault/vault-access.ts'
import type { ConnectOptions } from './connect-options.ts'
import { lifecycleOf } from './open-keeper.ts'
import { type KeyIds, openLogin } from './open-login.ts'

/** A vault with the real ports, while a connection uses it. */
export interface OpenVault {
  readonly vault: VaultAccess
  /** @param error Why `connect()` failed, if it did. */
  readonly release: (error?: unknown) => Promise<void>
}

/** Opens a vault, or shares one that other connections have opened. */
export function openVault(vault: Vault, options: ConnectOptions): OpenVault {
  const keyIds: KeyIds = new WeakMap()
  return vault.borrow({
    clock: systemClock,
    crypto: nodeCrypto,
    lifecycle: lifecycleOf(options.policy ?? {}),
    open: (login, listener) => openLogin(login, options, keyIds, listener),
    fallbacks: fallbackLogins,
  })
}

/**
 * Returns the handlers of a vault that has none: the program's client-node or, if it has no client-node, the kubeconfig
 * and the pod's service account in parallel.
 *
 * Never both: client-node reads the same files, and there would be two logins of one identity. Errors are not ignored:
 * they do not affect other handlers, and explain why no handler could log in.
 */
function fallbackLogins(): readonly RegisteredHandler[] {
  if (findClientNode() !== undefined) return [CLIENT_NODE]
  return [KUBECONFIG, SERVICE_ACCOUNT]
}

const CLIENT_NODE: RegisteredHandler = {
  id: 'client-node',
  handler: loginAsClientNode,
  options: { errors: 'permanent' },
}

const KUBECONFIG: RegisteredHandler = {
  id: 'kubeconfig',
  handler: (context) => loginWithKubeconfig(context),
  options: { errors: 'permanent' },
}

const SERVICE_ACCOUNT: RegisteredHandler = {
  id: 'service-account',
  handler: (context) => loginWithServiceAccount(context),
  options: { errors: 'permanent' },
}

/** client-node may be installed for another purpose: if it fails, the kubeconfig and service account are read without it. */
async function loginAsClientNode(context: LoginContext): Promise<ConnectionInfo | undefined> {
  try {
    return await loginViaClientNode(context)
  } catch (error) {
    if (!(error instanceof LoginToolFailedError)) throw error
    context.logger.warn(
      `${error.message}; the kubeconfig and the service account are read without it`,
    )
    return (await loginWithServiceAccount(context)) ?? loginWithKubeconfig(context)
  }
}
