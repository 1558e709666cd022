import { PluginAnswerError, PluginVersionError } from '../errors/index.ts'
import { parsePluginOutput } from './parse-plugin-output.ts'
import type { Fields } from './plain-object.ts'
import { type Asked, type ExecAnswer, isAlpha, readExecStatus } from './read-exec-status.ts'

export type { Asked, ExecAnswer }

/**
 * Turns what a credential plugin printed into an answer.
 *
 * Takes JSON or YAML, and only the API version that was asked for: a plugin that answers in another
 * version is a configuration error, as in client-go. Unknown fields are ignored; a missing `kind` is
 * forgiven. The flat answer of the first proposal is understood for v1alpha1 only.
 *
 * @param stdout Treated as a secret: no part of it reaches an error.
 * @throws {PluginSilentError | PluginSyntaxError | PluginVersionError | PluginAnswerError}
 */
export function decodeExecCredential(stdout: Uint8Array, asked: Asked): ExecAnswer {
  const answer = parsePluginOutput(stdout, asked)
  checkKind(answer, asked)
  checkVersion(answer, asked)
  return readExecStatus(answer, asked)
}

function checkKind(answer: Fields, { apiVersion, command, facts }: Asked): void {
  const kind = answer['kind'] ?? ''
  if (kind === '' || kind === 'ExecCredential') return
  if (kind === 'ExecCredentials' && isAlpha(apiVersion)) return
  const shown = typeof kind === 'string' && /^[A-Za-z]{1,40}$/.test(kind) ? ` "${kind}"` : ''
  throw new PluginAnswerError(
    command,
    'kind',
    `returned an object of another kind${shown}, not ExecCredential`,
    facts,
  )
}

function checkVersion(answer: Fields, { apiVersion, command, facts }: Asked): void {
  const got = answer['apiVersion']
  if (got === apiVersion) return
  if (got === undefined || got === null || got === '') {
    throw new PluginVersionError(
      command,
      `did not say which apiVersion it answers in (${apiVersion} was asked for)`,
      {
        ...facts,
        hint: `Make the plugin print apiVersion: ${apiVersion}, the one it finds in KUBERNETES_EXEC_INFO.`,
      },
    )
  }
  const known =
    typeof got === 'string' && /^client\.authentication\.k8s\.io\/v\d\w{0,12}$/.test(got)
  throw new PluginVersionError(
    command,
    `is configured to use API version ${apiVersion}, but answered in ${known ? got : 'another one'}`,
    {
      ...facts,
      hint: known
        ? `Set exec.apiVersion to ${got} in the kubeconfig, or update the plugin.`
        : undefined,
    },
  )
}
