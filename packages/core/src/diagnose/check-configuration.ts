import { homedir } from 'node:os'
import type { ConnectOptions } from '../connect/connect-options.ts'
import type { Environment } from '../formats/plain-object.ts'
import type { Connection, UserIdentity } from '../kubeconfig/connection.ts'
import type { ExecConfig } from '../kubeconfig/exec-config.ts'
import { type SignerConfig, signerName } from '../kubeconfig/external-signer-config.ts'
import { isInPod } from '../kubeconfig/in-cluster.ts'
import {
  homeFolder,
  loadConnection,
  readKubeconfigs,
  readRegularKubeconfig,
} from '../node/load-kubeconfig.ts'
import { loadPluginPolicy } from '../node/load-plugin-policy.ts'
import { nodePrograms } from '../node/node-programs.ts'
import type { PluginPolicy } from '../plugin/plugin-policy.ts'
import { programDenialReason } from '../sources/find-allowed-program.ts'
import type { StepResult } from './finding.ts'

const FROM = {
  flag: 'named on the command line',
  option: 'passed as an option',
  KUBECONFIG: 'named by KUBECONFIG',
  home: 'in the home folder',
} as const

/** Checks which kubeconfig files exist and how many contexts they define. */
export async function checkFiles(options: ConnectOptions, env: Environment): Promise<StepResult> {
  const { places, configs, missing } = await readKubeconfigs({
    kubeconfig: options.kubeconfig,
    env,
    // A pipe can be read only once, and the next step reads the files again.
    readFile: readRegularKubeconfig,
  })
  const { from, files } = places
  const contexts = new Set(configs.flatMap((config) => [...config.contexts.keys()]))
  const [only] = files
  if (from === 'option') {
    return { verdict: 'ok', summary: `${FROM[from]}, ${count(contexts.size, 'context')}` }
  }
  if (files.length === 1 && configs.length === 1) {
    return {
      verdict: 'ok',
      summary: `${only} (${FROM[from]}), ${count(contexts.size, 'context')}`,
    }
  }
  const details = [
    ...files.map((file) => `${file}: ${missing.includes(file) ? 'does not exist' : 'read'}`),
    ...(configs.length > 1 ? ['If several files define the same name, the first one wins.'] : []),
  ]
  if (configs.length > 0) {
    const summary = `${count(configs.length, 'file')} ${FROM[from]}, ${count(contexts.size, 'context')}`
    return { verdict: missing.length > 0 ? 'warning' : 'ok', summary, details }
  }
  if (isInPod(env)) return { verdict: 'ok', summary: 'none; running in a pod', details }
  return {
    verdict: options.server === undefined ? 'warning' : 'ok',
    summary: files.length === 0 ? 'no file: HOME is not set' : 'no file',
    details,
  }
}

/** Checks which cluster, user and namespace the selected context resolves to. */
export async function checkContext(
  options: ConnectOptions,
  env: Environment,
): Promise<{ result: StepResult; connection: Connection }> {
  const { kubeconfig } = options
  const connection = await loadConnection({ kubeconfig, overrides: options, env })
  const { context, cluster, user, namespace, warnings } = connection
  const where = context === undefined ? 'no context' : `context ${JSON.stringify(context)}`
  const result: StepResult = {
    verdict: warnings.length > 0 ? 'warning' : 'ok',
    summary: `${where}, server ${cluster.server}`,
    details: [
      [
        cluster.name === undefined ? [] : [`cluster ${JSON.stringify(cluster.name)}`],
        user.name === undefined ? [] : [`user ${JSON.stringify(user.name)}`],
        [`namespace ${JSON.stringify(namespace)}`],
      ]
        .flat()
        .join(', '),
      ...warnings,
    ],
  }
  return { result, connection }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

/** Checks how the user entry authenticates. */
export function checkMethod(user: UserIdentity): StepResult {
  const methods = methodsOf(user)
  const { impersonate } = user
  const details = [
    ...(impersonate === undefined ? [] : [`impersonates: ${impersonate.user}`]),
    ...(user.externalSigner === undefined
      ? []
      : ['TLS 1.3 only: a signer cannot sign other handshakes']),
  ]
  if (methods.length > 0) return { verdict: 'ok', summary: methods.join(', '), details }
  return {
    verdict: 'warning',
    summary: 'none: requests are anonymous',
    details,
    remedy:
      'Add a way to authenticate to the user entry, such as exec or token, or choose another user with --user.',
  }
}

function methodsOf(user: UserIdentity): string[] {
  const { exec, oidc, externalSigner, token, tokenFile, basic, certificate } = user
  return [
    exec && `plugin ${JSON.stringify(exec.command)} (${exec.apiVersion.replace(/^.*\//, '')})`,
    oidc && `OpenID Connect at ${oidc.issuer}`,
    externalSigner && `external signer ${JSON.stringify(signerName(externalSigner))}`,
    tokenFile !== undefined && `token file ${tokenFile}`,
    token && tokenFile === undefined && 'a token',
    basic && `user name ${JSON.stringify(basic.username)} and password`,
    certificate &&
      (certificate.chain.from === 'file'
        ? `client certificate ${certificate.chain.path}`
        : 'a client certificate'),
  ].filter((method): method is string => typeof method === 'string')
}

/** Checks whether the plugin policy of kubectl's preferences (kuberc) allows the plugin. */
export async function checkPolicy(
  command: string,
  { kuberc, policy }: ConnectOptions,
  env: Environment,
): Promise<StepResult> {
  const rules = await loadPluginPolicy({ kuberc, env, home: homeFolder(env) || homedir() })
  if (rules.type === 'AllowAll') return { verdict: 'ok', summary: 'all plugins are allowed' }
  const details = [`from: ${rules.origin}`]
  const reason = await denialReason(rules, command, nodePrograms(env, policy?.pluginFolders))
  if (reason === undefined) {
    return { verdict: 'ok', summary: `${JSON.stringify(command)} is allowed`, details }
  }
  return {
    verdict: 'error',
    summary: `${JSON.stringify(command)} is not allowed: ${reason}`,
    details,
    remedy: `Add it to credentialPluginAllowlist in ${rules.origin} if you trust it.`,
    code: 'ERR_PLUGIN_DENIED',
  }
}

async function denialReason(
  rules: Exclude<PluginPolicy, { type: 'AllowAll' }>,
  command: string,
  programs: ReturnType<typeof nodePrograms>,
): Promise<string | undefined> {
  if (rules.type === 'DenyAll') return 'the policy is DenyAll'
  const located = await programs.locate(command)
  // The next step reports a plugin that does not exist.
  if (located.is !== 'found') return undefined
  return programDenialReason(rules, command, located, programs)
}

/** Checks which executable the command resolves to. */
export async function checkPlugin(
  { command, installHint }: Pick<ExecConfig, 'command' | 'installHint'>,
  { policy }: ConnectOptions,
  env: Environment,
): Promise<StepResult> {
  const located = await nodePrograms(env, policy?.pluginFolders).locate(command)
  if (located.is === 'missing') {
    return {
      verdict: 'error',
      summary: `${JSON.stringify(command)} was not found in PATH`,
      details: [
        located.lookedIn.length === 0
          ? 'PATH is empty'
          : `looked in ${located.lookedIn.join(', ')}`,
      ],
      remedy: installHint ?? 'Install the plugin, or set exec.command to its full path.',
      code: 'ERR_PLUGIN_NOT_FOUND',
    }
  }
  if (located.is === 'unusable') {
    return {
      verdict: 'error',
      summary: `${located.path} cannot run: ${located.reason}`,
      remedy: `Make it executable (chmod +x ${located.path}), or install the plugin again.`,
      code: 'ERR_PLUGIN_NOT_EXECUTABLE',
    }
  }
  const { path, realPath, writableByOthers } = located
  return {
    verdict: writableByOthers === undefined ? 'ok' : 'warning',
    summary: path,
    details: [
      ...(realPath === path ? [] : [`resolves to ${realPath}`]),
      ...(writableByOthers === undefined ? [] : [writableByOthers]),
    ],
    ...(writableByOthers !== undefined && {
      remedy: `Make it writable by its owner only: chmod go-w ${realPath}`,
    }),
  }
}

type Program = Pick<ExecConfig, 'command' | 'installHint'>

/** Returns the program of a signer that we would start; undefined if the signer runs on its own. */
export function signerProgram(signer: SignerConfig | undefined): Program | undefined {
  if (signer?.at.kind !== 'program') return undefined
  const { command } = signer.at
  return { command, installHint: installHintFor(command) }
}

/** A kubeconfig copied from another machine may name a program that is not installed here. */
function installHintFor(command: string): string {
  const name = command.split(/[\\/]/).at(-1)
  const how = name === 'kubecred-pkcs11' ? ' (npm install --global @kubecred/pkcs11)' : ''
  return `Install the signer${how}, or set pathExec of the user entry to its full path.`
}
