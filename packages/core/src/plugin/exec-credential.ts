import {
  PluginNoOutputError,
  PluginOutputInvalidError,
  type PluginRunFacts,
  PluginSyntaxError,
  PluginVersionError,
} from '../errors/index.ts'
import { JsonError, parseJson } from '../formats/json.ts'
import { describeType, type Fields, isFields } from '../formats/plain-object.ts'
import { parseYaml, YamlError } from '../formats/yaml.ts'
import { type AnswerContext, type ExecAnswer, isAlpha, readExecStatus } from './exec-status.ts'

/**
 * Decodes the standard output of a credential plugin.
 *
 * Accepts JSON and YAML, and only the requested API version: an answer in another version is a configuration error, as
 * in client-go. Unknown fields are ignored, and `kind` may be missing. The flat form of the first proposal is accepted
 * for v1alpha1 only.
 *
 * @param stdout Treated as a secret: no part of it appears in an error.
 * @throws {PluginNoOutputError} `ERR_PLUGIN_NO_OUTPUT` if it is empty.
 * @throws {PluginSyntaxError} `ERR_PLUGIN_SYNTAX` if it is neither JSON nor YAML, or not an object.
 * @throws {PluginVersionError} `ERR_PLUGIN_VERSION` if it is in another version.
 * @throws {PluginOutputInvalidError} `ERR_PLUGIN_OUTPUT_INVALID` with the path of the first invalid field.
 */
export function decodeExecCredential(stdout: Uint8Array, context: AnswerContext): ExecAnswer {
  const answer = parsePluginOutput(stdout, context)
  checkKind(answer, context)
  checkVersion(answer, context)
  return readExecStatus(answer, context)
}

function checkKind(answer: Fields, { apiVersion, command, facts }: AnswerContext): void {
  const kind = answer['kind'] ?? ''
  if (kind === '' || kind === 'ExecCredential') return
  if (kind === 'ExecCredentials' && isAlpha(apiVersion)) return
  const shown = typeof kind === 'string' && /^[A-Za-z]{1,40}$/.test(kind) ? ` "${kind}"` : ''
  throw new PluginOutputInvalidError(
    command,
    'kind',
    `returned an object of another kind${shown}, not ExecCredential`,
    facts,
  )
}

function checkVersion(answer: Fields, { apiVersion, command, facts }: AnswerContext): void {
  const got = answer['apiVersion']
  if (got === apiVersion) return
  if (got === undefined || got === null || got === '') {
    throw new PluginVersionError(
      command,
      `returned an answer without an apiVersion (expected ${apiVersion})`,
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

interface Origin {
  readonly command: string
  readonly facts?: PluginRunFacts
}

/**
 * Parses the standard output of a plugin as one JSON or YAML object.
 *
 * Output that begins with `{` must be complete JSON; anything else is parsed as YAML, as in client-go.
 *
 * @throws {PluginNoOutputError} `ERR_PLUGIN_NO_OUTPUT`
 * @throws {PluginSyntaxError} `ERR_PLUGIN_SYNTAX` without quoting the output.
 */
export function parsePluginOutput(stdout: Uint8Array, origin: Origin): Fields {
  return parseAnswer(decodeText(stdout, origin), origin)
}

const ONLY_THE_ANSWER =
  'Make the plugin print only the ExecCredential to standard output, and everything else to standard error.'

function decodeText(stdout: Uint8Array, { command, facts }: Origin): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(stdout).trim()
  } catch {
    throw new PluginSyntaxError(command, 'printed bytes that are not UTF-8', {
      ...facts,
      hint: 'Make the plugin print UTF-8; check its locale, or the encoding of its cached answer.',
    })
  }
}

function parseAnswer(text: string, { command, facts }: Origin): Fields {
  if (text === '') {
    throw new PluginNoOutputError(command, 'ended with status 0 but printed nothing', facts)
  }
  const isJson = text.startsWith('{')
  const parsed = parse(text, isJson)
  if (parsed instanceof Error) {
    const format = isJson ? 'incomplete or broken JSON' : 'neither JSON nor YAML'
    throw new PluginSyntaxError(command, `printed ${format}: ${parsed.message}`, {
      ...facts,
      hint: ONLY_THE_ANSWER,
    })
  }
  if (!isFields(parsed)) {
    throw new PluginSyntaxError(command, `printed ${describeType(parsed)} instead of an object`, {
      ...facts,
      hint: ONLY_THE_ANSWER,
    })
  }
  return parsed
}

/** Returns syntax errors instead of throwing them; they never quote the text. */
function parse(text: string, isJson: boolean): unknown {
  try {
    return isJson ? parseJson(text) : parseYaml(text)
  } catch (error) {
    const isSafe = error instanceof YamlError || error instanceof JsonError
    return isSafe ? error : new Error('the text cannot be parsed')
  }
}
