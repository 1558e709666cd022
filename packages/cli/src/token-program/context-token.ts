import { connect } from 'kubecred'
import { NotSupportedError } from 'kubecred/internal'
import { credentialAnswer } from '../agent/agent-source.ts'
import { splitExecInfo } from '../agent/exec-info-text.ts'
import { clientEnvironment, policyFiles } from '../agent/plugin-policy.ts'
import { pluginLimits } from '../flags/plugin-policy.ts'
import { UsageError } from '../usage-error.ts'
import type { TokenArguments } from './read-arguments.ts'
import type { Surroundings } from './token-io.ts'

/** Set for what runs on behalf of a context, so that one that leads back to us is noticed. */
const CONTEXT_VARIABLE = 'KUBECRED_TOKEN_CONTEXT'

/**
 * The credential of a context as an ExecCredential.
 *
 * @throws {CredentialError | UsageError}
 */
export async function contextToken(
  { kubeconfig, context, timeoutMs, pluginEnv }: TokenArguments,
  { env, parent, isTerminal, giveTerminal, pass, tell }: Surroundings,
): Promise<string> {
  const { apiVersion, interactive } = splitExecInfo(env['KUBERNETES_EXEC_INFO'])
  if (env[CONTEXT_VARIABLE] !== undefined) {
    throw new UsageError('the context of kubecred-token leads to kubecred-token again')
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
      stdinUnavailable: 'the client asks for no dialogue',
    }),
    observer: (event) => {
      if (event.type === 'plugin-started' && event.isInteractive) giveTerminal()
      if (event.type === 'plugin-stderr') pass(event.text)
      if (event.type === 'warning') tell(event.message)
    },
  })
  try {
    const { token, certificate, expiresAt } = await cluster.credential()
    if (token === undefined && certificate === undefined) {
      throw new UsageError('this context has neither a token nor a certificate')
    }
    if (certificate?.signingKey !== undefined) {
      throw new NotSupportedError('the private key of this user stays where it is, and only signs')
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
