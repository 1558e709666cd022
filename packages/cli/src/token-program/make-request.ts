import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { pluginEnvironment } from 'kubecred/internal'
import { accountFacts } from '../agent/account-files.ts'
import { splitExecInfo } from '../agent/exec-info-text.ts'
import { type FoundPlugin, spotPlugin } from '../agent/find-plugin.ts'
import { clientEnvironment, policyFiles } from '../agent/plugin-policy.ts'
import { identifyProcess } from '../agent/process-id.ts'
import type { GetRequest } from '../agent/protocol.ts'
import { UsageError } from '../usage-error.ts'
import type { TokenArguments } from './read-arguments.ts'
import type { Surroundings } from './token-io.ts'

/** How often we may stand behind ourselves: a plugin may use another cluster, but not for ever. */
const DEEPEST = 3
export const DEPTH_VARIABLE = 'KUBECRED_TOKEN_DEPTH'

/**
 * Finds the plugin, asks the policy, and says everything that decides what it would answer.
 *
 * @throws {CredentialError | UsageError}
 */
export async function makeRequest(
  { plugin, dependsOn, ttlMs, timeoutMs, pluginEnv }: TokenArguments,
  { env, cwd, parent, own, isTerminal }: Surroundings,
): Promise<GetRequest> {
  if (plugin === undefined) throw new UsageError('there is no plugin')
  const { command, args } = plugin
  const info = splitExecInfo(env['KUBERNETES_EXEC_INFO'])
  const depth = Number(env[DEPTH_VARIABLE] ?? 0) + 1
  if (depth > DEEPEST) {
    throw new UsageError(
      `${JSON.stringify(command)} starts kubecred-token again and again: it leads to itself`,
    )
  }
  const client = clientEnvironment(parent)
  const found = await findAllowed(command, env, client)
  if (found.realPath === realpathSync.native(own)) {
    throw new UsageError('the plugin behind "--" is kubecred-token itself')
  }
  const { KUBERNETES_EXEC_INFO: _, ...passed } = pluginEnvironment(env, pluginEnv)
  return {
    do: 'get',
    path: found.path,
    command,
    args,
    env: { ...passed, [DEPTH_VARIABLE]: String(depth) },
    cwd,
    execInfo: info.text,
    ...accountFacts(
      command,
      args,
      env,
      dependsOn.map((file) => resolve(cwd, file)),
    ),
    ttlMs,
    timeoutMs,
    parent: identifyProcess(parent),
    isInteractive: info.interactive && (await isTerminal(0)),
    isAttended: await isTerminal(2),
  }
}

/** Where the client looks for programs, so that a stanza cannot send us elsewhere. */
async function findAllowed(
  command: string,
  env: Surroundings['env'],
  client: Surroundings['env'] | undefined,
): Promise<FoundPlugin> {
  const host = { ...env, PATH: client?.['PATH'] ?? env['PATH'] }
  const policies = policyFiles(env, client)
  const spotted = policies.length === 0 ? spotPlugin(command, host.PATH) : undefined
  if (spotted !== undefined) return spotted
  const { judgePlugin } = await import('./slow-path.ts')
  return judgePlugin(command, host, policies)
}
