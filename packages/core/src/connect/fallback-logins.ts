import { LoginToolError } from '../errors/index.ts'
import { findClientNode, loginViaClientNode } from '../logins/client-node.ts'
import { loginWithKubeconfig, loginWithServiceAccount } from '../logins/kubeconfig.ts'
import type { ConnectionInfo } from '../vault/connection-info.ts'
import type { RegisteredHandler } from '../vault/log-in.ts'
import type { LoginContext } from '../vault/login-handler.ts'

/**
 * The handlers of a vault that was given none: what the program's own client-node would use, and where it has no
 * client-node, the kubeconfig and the pod's service account side by side.
 *
 * Never both: client-node reads the same places, and two logins of one identity would be one too many. Errors are
 * not ignored: they do no harm to the others, and say why nobody is logged in.
 */
export function fallbackLogins(): readonly RegisteredHandler[] {
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

/** It may be there for something else altogether: when it fails, the places are read without it. */
async function loginAsClientNode(context: LoginContext): Promise<ConnectionInfo | undefined> {
  try {
    return await loginViaClientNode(context)
  } catch (error) {
    if (!(error instanceof LoginToolError)) throw error
    context.logger.warn(
      `${error.message}; the kubeconfig and the service account are read without it`,
    )
    return (await loginWithServiceAccount(context)) ?? loginWithKubeconfig(context)
  }
}
