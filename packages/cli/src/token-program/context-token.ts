import { connect } from 'kubecred'
import { NotSupportedError } from 'kubecred/internal'
import { credentialAnswer } from '../agent/agent-source.ts'
import { splitExecInfo } from '../agent/exec-info-text.ts'
import { clientEnvironment, policyFiles } from '../agent/plugin-policy.ts'
import { pluginLimits } from '../flags/plugin-policy.ts'
import { UsageError } from '../usage-error.ts'
import type { TokenArguments } from './read-arguments.ts'
import type { TokenIo } from './token-io.ts'

/** Set for the plugin of a context, to detect a context that leads back to kubecred-token. */
const CONTEXT_VARIABLE = 'KUBECRED_TOKEN_CONTEXT'

/**
 * Returns the credential of a context as an ExecCredential.
 *
 * @throws {CredentialError | UsageError}
 */
export async function contextToken(
  { kubeconfig, context, timeoutMs, pluginEnv }: TokenArguments,
  { env, parent, isTerminal, yieldTerminal, passStderr, writeLine }: TokenIo,
): Promise<string> {
  const { apiVersion, interactive } = splitExecInfo(env['KUBERNETES_EXEC_INFO'])
  if (env[CONTEXT_VARIABLE] !== undefined) {
    throw new UsageError('the context of kubecred-token uses kubecred-token again')
  }
  const { KUBERNETES_EXEC_INFO: _, KUBERC: __, ...passed } = env
  const [kuberc] = policyFiles(env, clientEnvironment(parent))
  const cluster = await connect({
    kubeconfig,
    context,
    ...(kuberc !== undefined && { kuberc }),
    env: { ...passed, [CONTEXT_VARIABLE]: '1' },
    transport: 'https',
    policy: pluginLimits({ timeoutMs, pluginEnv }, await isTerminal(2)),
    ...(!(interactive && (await isTerminal(0))) && {
      stdinUnavailable: 'the client is not interactive',
    }),
    observer: (event) => {
      if (event.type === 'plugin-started' && event.isInteractive) yieldTerminal()
      if (event.type === 'plugin-stderr') passStderr(event.text)
      if (event.type === 'warning') writeLine(event.message)
    },
  })
  try {
    const { token, certificate, expiresAt } = await cluster.credential()
    if (token === undefined && certificate === undefined) {
      throw new UsageError('this context has neither a token nor a certificate')
    }
    if (certificate?.signingKey !== undefined) {
      throw new NotSupportedError('the private key of this user is not exportable')
    }
    return credentialAnswer(
      { ...(token && { token }), ...(certificate && { certificate }) },
      expiresAt ?? Number.POSITIVE_INFINITY,
      apiVersion,
    )
  } finally {
    await cluster.close()
  }
}
