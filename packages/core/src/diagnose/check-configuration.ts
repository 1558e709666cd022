import { homedir } from 'node:os'
import type { ConnectOptions } from '../connect/connect-options.ts'
import type { Environment } from '../formats/plain-object.ts'
import type { Connection, UserIdentity } from '../kubeconfig/connection.ts'
import type { ExecConfig } from '../kubeconfig/exec-config.ts'
import { type SignerConfig, signerName } from '../kubeconfig/external-signer-config.ts'
import { isInPod } from '../kubeconfig/in-cluster.ts'
import { loadConnection, readKubeconfigs, readRegularKubeconfig } from '../node/load-kubeconfig.ts'
import { loadPluginPolicy } from '../node/load-plugin-policy.ts'
import { nodePrograms } from '../node/node-programs.ts'
import type { PluginPolicy } from '../plugin/plugin-policy.ts'
import { programDenialReason } from '../sources/find-allowed-program.ts'
import type { Look } from './finding.ts'

const FROM = {
  flag: 'named on the command line',
  option: 'passed as an option',
  KUBECONFIG: 'named by KUBECONFIG',
  home: 'in the home folder',
} as const

/** Which files there are, and what is in them. */
export async function lookAtFiles(options: ConnectOptions, env: Environment): Promise<Look> {
  const { places, configs, missing } = await readKubeconfigs({
    kubeconfig: options.kubeconfig,
    env,
    // A pipe can be read once, and the next step needs it too.
    readFile: readRegularKubeconfig,
  })
  const { from, files } = places
  const contexts = new Set(configs.flatMap((config) => [...config.contexts.keys()]))
  const [only] = files
  if (from === 'option') {
    return { verdict: 'good', summary: `${FROM[from]}, ${count(contexts.size, 'context')}` }
  }
  if (files.length === 1 && configs.length === 1) {
    return {
      verdict: 'good',
      summary: `${only} (${FROM[from]}), ${count(contexts.size, 'context')}`,
    }
  }
  const details = [
    ...files.map((file) => `${file}: ${missing.includes(file) ? 'does not exist' : 'read'}`),
    ...(configs.length > 1 ? ['For a name that is in several files, the first one counts.'] : []),
  ]
  if (configs.length > 0) {
    const summary = `${count(configs.length, 'file')} ${FROM[from]}, ${count(contexts.size, 'context')}`
    return { verdict: missing.length > 0 ? 'odd' : 'good', summary, details }
  }
  if (isInPod(env)) return { verdict: 'good', summary: 'none; we run in a pod', details }
  return {
    verdict: options.server === undefined ? 'odd' : 'good',
    summary: files.length === 0 ? 'no file to look in: HOME is not set' : 'no file',
    details,
  }
}

/** Which cluster, user and namespace that means. */
export async function lookAtContext(
  options: ConnectOptions,
  env: Environment,
): Promise<{ look: Look; connection: Connection }> {
  const { kubeconfig } = options
  const connection = await loadConnection({ kubeconfig, overrides: options, env })
  const { context, cluster, user, namespace, warnings } = connection
  const where = context === undefined ? 'no context' : `context ${JSON.stringify(context)}`
  const look: Look = {
    verdict: warnings.length > 0 ? 'odd' : 'good',
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
  return { look, connection }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

/** How the user entry says to authenticate. */
export function lookAtMethod(user: UserIdentity): Look {
  const methods = methodsOf(user)
  const { impersonate } = user
  const details = [
    ...(impersonate === undefined ? [] : [`asks to act as: ${impersonate.user}`]),
    ...(user.externalSigner === undefined
      ? []
      : ['TLS 1.3 only: a signer signs no other handshake']),
  ]
  if (methods.length > 0) return { verdict: 'good', summary: methods.join(', '), details }
  return {
    verdict: 'odd',
    summary: 'none: requests are anonymous',
    details,
    remedy:
      'Give the user entry a way to authenticate, such as exec or token, or choose another user with --user.',
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

/** Whether the plugin may run, as kubectl's preferences say. */
export async function lookAtPolicy(
  command: string,
  { kuberc, policy }: ConnectOptions,
  env: Environment,
): Promise<Look> {
  const rules = await loadPluginPolicy({ kuberc, env, home: env['HOME'] || homedir() })
  if (rules.type === 'AllowAll') return { verdict: 'good', summary: 'every plugin may run' }
  const details = [`from: ${rules.origin}`]
  const reason = await whyNot(rules, command, nodePrograms(env, policy?.pluginFolders))
  if (reason === undefined) {
    return { verdict: 'good', summary: `${JSON.stringify(command)} may run`, details }
  }
  return {
    verdict: 'bad',
    summary: `${JSON.stringify(command)} may not run: ${reason}`,
    details,
    remedy: `Add it to credentialPluginAllowlist in ${rules.origin} if you trust it.`,
    code: 'ERR_PLUGIN_DENIED',
  }
}

async function whyNot(
  rules: Exclude<PluginPolicy, { type: 'AllowAll' }>,
  command: string,
  programs: ReturnType<typeof nodePrograms>,
): Promise<string | undefined> {
  if (rules.type === 'DenyAll') return 'the policy is DenyAll'
  const located = await programs.locate(command)
  // Whether it is there at all is the next step's business.
  if (located.is !== 'found') return undefined
  return programDenialReason(rules, command, located, programs)
}

/** Which file the command is. */
export async function lookForPlugin(
  { command, installHint }: Pick<ExecConfig, 'command' | 'installHint'>,
  { policy }: ConnectOptions,
  env: Environment,
): Promise<Look> {
  const located = await nodePrograms(env, policy?.pluginFolders).locate(command)
  if (located.is === 'missing') {
    return {
      verdict: 'bad',
      summary: `${JSON.stringify(command)} is in no folder of PATH`,
      details: [`looked in ${located.lookedIn.join(', ') || 'no folder: PATH is empty'}`],
      remedy: installHint ?? 'Install the plugin, or write its full path in exec.command.',
      code: 'ERR_PLUGIN_NOT_FOUND',
    }
  }
  if (located.is === 'unusable') {
    return {
      verdict: 'bad',
      summary: `${located.path} cannot run: ${located.reason}`,
      remedy: `Make it executable (chmod +x ${located.path}), or install the plugin again.`,
      code: 'ERR_PLUGIN_NOT_EXECUTABLE',
    }
  }
  const { path, realPath, writableByOthers } = located
  return {
    verdict: writableByOthers === undefined ? 'good' : 'odd',
    summary: path,
    details: [
      ...(realPath === path ? [] : [`which is ${realPath}`]),
      ...(writableByOthers === undefined ? [] : [writableByOthers]),
    ],
    ...(writableByOthers !== undefined && {
      remedy: `Let only its owner write it: chmod go-w ${realPath}`,
    }),
  }
}

type Program = Pick<ExecConfig, 'command' | 'installHint'>

/** The program of a signer, as something to look for; undefined when it is one that runs by itself. */
export function signerProgram(signer: SignerConfig | undefined): Program | undefined {
  if (signer?.at.kind !== 'program') return undefined
  const { command } = signer.at
  return { command, installHint: installHintFor(command) }
}

/** A kubeconfig that was made elsewhere names programs that are not here. */
function installHintFor(command: string): string {
  const name = command.split(/[\\/]/).at(-1)
  const how = name === 'kubecred-pkcs11' ? ' (npm install --global @kubecred/pkcs11)' : ''
  return `Install the signer${how}, or write its full path in pathExec of the user entry.`
}
