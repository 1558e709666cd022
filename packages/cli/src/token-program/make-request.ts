import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { identifyProcess, pluginEnvironment, systemName } from 'kubecred/internal'
import { accountFacts } from '../agent/account-files.ts'
import { splitExecInfo } from '../agent/exec-info-text.ts'
import { type FoundPlugin, findPluginSync } from '../agent/find-plugin.ts'
import { clientEnvironment, policyFiles } from '../agent/plugin-policy.ts'
import type { GetRequest } from '../agent/protocol.ts'
import { UsageError } from '../usage-error.ts'
import type { TokenArguments } from './read-arguments.ts'
import type { TokenIo } from './token-io.ts'

/** How deep kubecred-token may be nested: a plugin may use another cluster, but not without end. */
const MAX_DEPTH = 3
export const DEPTH_VARIABLE = 'KUBECRED_TOKEN_DEPTH'

/**
 * Locates the plugin, applies the policy, and collects everything that decides what the plugin would answer.
 *
 * @throws {CredentialError | UsageError}
 */
export async function makeRequest(
  { plugin, dependsOn, ttlMs, timeoutMs, pluginEnv }: TokenArguments,
  { env, cwd, parent, own, isTerminal }: TokenIo,
): Promise<GetRequest> {
  if (plugin === undefined) throw new UsageError('no plugin was given')
  const { command, args } = plugin
  const info = splitExecInfo(env['KUBERNETES_EXEC_INFO'])
  const depth = Number(env[DEPTH_VARIABLE] ?? 0) + 1
  if (depth > MAX_DEPTH) {
    throw new UsageError(
      `plugin ${JSON.stringify(command)} starts kubecred-token again, without end`,
    )
  }
  const client = clientEnvironment(parent)
  const found = await findAllowed(command, env, client)
  if (own !== undefined && found.realPath === realpathSync.native(own)) {
    throw new UsageError('the plugin after "--" is kubecred-token itself')
  }
  const { KUBERNETES_EXEC_INFO: _, ...passed } = pluginEnvironment(env, pluginEnv?.map(systemName))
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

/** Searches the PATH of the client, so that `exec.env` cannot redirect the search. */
async function findAllowed(
  command: string,
  env: TokenIo['env'],
  client: TokenIo['env'] | undefined,
): Promise<FoundPlugin> {
  const host = { ...env, PATH: client?.['PATH'] ?? env['PATH'] }
  const policies = policyFiles(env, client)
  const found = policies.length === 0 ? findPluginSync(command, host.PATH) : undefined
  if (found !== undefined) return found
  const { findAllowedPlugin } = await import('./slow-path.ts')
  return findAllowedPlugin(command, host, policies)
}
