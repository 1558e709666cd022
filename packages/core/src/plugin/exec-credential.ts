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
import { type Asked, type ExecAnswer, isAlpha, readExecStatus } from './exec-status.ts'

/**
 * Turns what a credential plugin printed into an answer.
 *
 * Takes JSON or YAML, and only the API version that was asked for: a plugin that answers in another
 * version is a configuration error, as in client-go. Unknown fields are ignored; a missing `kind` is
 * forgiven. The flat answer of the first proposal is understood for v1alpha1 only.
 *
 * @param stdout Treated as a secret: no part of it reaches an error.
 * @throws {PluginNoOutputError | PluginSyntaxError | PluginVersionError | PluginOutputInvalidError}
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
  throw new PluginOutputInvalidError(
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

interface Origin {
  readonly command: string
  readonly facts?: PluginRunFacts
}

/**
 * Reads the bytes a plugin printed as one object, JSON or YAML.
 *
 * What begins with `{` is JSON and must be whole; anything else is tried as YAML, as client-go does.
 *
 * @throws {PluginNoOutputError | PluginSyntaxError} Neither quotes the output.
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
    throw new PluginSyntaxError(
      command,
      `printed ${describeType(parsed)} where an object belongs`,
      {
        ...facts,
        hint: ONLY_THE_ANSWER,
      },
    )
  }
  return parsed
}

/** Mistakes come back as errors that do not quote the text. */
function parse(text: string, isJson: boolean): unknown {
  try {
    return isJson ? parseJson(text) : parseYaml(text)
  } catch (error) {
    const isSafe = error instanceof YamlError || error instanceof JsonError
    return isSafe ? error : new Error('the text cannot be parsed')
  }
}
