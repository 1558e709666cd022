import { isHeaderSafe } from '../credential/credential.ts'
import {
  PluginAnswerError,
  type PluginRunFacts,
  PluginSilentError,
  PluginSyntaxError,
  PluginVersionError,
} from '../errors/index.ts'
import { JsonError, parseJson } from '../formats/json.ts'
import { type Fields, isFields, nameType } from '../formats/plain-object.ts'
import { parseExpiration } from '../formats/rfc3339.ts'
import { parseYaml, YamlError } from '../formats/yaml.ts'
import { Secret } from '../secret/secret.ts'
import { type ApiVersion, GROUP } from './exec-config.ts'

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

/** What a plugin answered, checked but for the certificate itself. */
export interface ExecAnswer {
  readonly token?: Secret
  readonly certificate?: { readonly chain: string; readonly key: Secret }
  /** Milliseconds since the epoch; `Infinity` when the plugin set no expiry. */
  readonly expiresAt: number
}

export interface Asked {
  readonly apiVersion: ApiVersion
  readonly command: string
  readonly facts?: PluginRunFacts
}

/**
 * Reads the credential out of an answer whose kind and version are right.
 *
 * @throws {PluginAnswerError} With the path of the first field that is wrong.
 */
export function readExecStatus(answer: Fields, asked: Asked): ExecAnswer {
  const { command, facts, apiVersion } = asked
  const flat = answer['status'] === undefined && isAlpha(apiVersion)
  const status = flat ? answer : answer['status']
  if (status === undefined || status === null) {
    throw new PluginAnswerError(command, 'status', "didn't return a status field", facts)
  }
  if (!isFields(status)) {
    throw new PluginAnswerError(
      command,
      'status',
      `returned ${nameType(status)} as status where an object belongs`,
      facts,
    )
  }
  const text = (field: string): string => readText(status, field, asked)
  const token = readToken(text('token'), asked)
  const chain = text('clientCertificateData')
  const key = text('clientKeyData')
  if (token === undefined && chain === '' && key === '') {
    throw new PluginAnswerError(
      command,
      'status',
      "didn't return a token or a certificate with its key",
      {
        ...facts,
        hint: 'Check that you are logged in: the plugin answered, but with nothing in it.',
      },
    )
  }
  if ((chain === '') !== (key === '')) {
    const [has, lacks] =
      chain === '' ? ['key', 'clientCertificateData'] : ['certificate', 'clientKeyData']
    throw new PluginAnswerError(
      command,
      `status.${lacks}`,
      `returned only a ${has}: status.${lacks} is missing`,
      facts,
    )
  }
  return {
    ...(token && { token }),
    ...(chain !== '' && { certificate: { chain, key: new Secret(key) } }),
    expiresAt: flat ? readUnixExpiry(status, asked) : readExpiry(status, asked),
  }
}

function readText(status: Fields, field: string, { command, facts }: Asked): string {
  const value = status[field]
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw new PluginAnswerError(
    command,
    `status.${field}`,
    `returned ${nameType(value)} as status.${field} where text belongs`,
    { ...facts, hint: `Put the value of ${field} in quotes.` },
  )
}

/** A header carries printable ASCII only; a line break at the end is the most common mistake of shell scripts. */
function readToken(token: string, { command, facts }: Asked): Secret | undefined {
  if (token === '') return undefined
  if (isHeaderSafe(token)) return new Secret(token)
  const what = /[\r\n]/.test(token) ? 'a line break' : 'a character that no HTTP header can carry'
  throw new PluginAnswerError(command, 'status.token', `returned a token with ${what} in it`, {
    ...facts,
    hint: /\s$/.test(token)
      ? 'Remove the white space at the end of the token (in a shell: printf, not echo).'
      : 'Remove everything from the token that is not printable ASCII.',
  })
}

function readExpiry(status: Fields, asked: Asked): number {
  const value = status['expirationTimestamp']
  if (value === undefined || value === null) return Number.POSITIVE_INFINITY
  const time = typeof value === 'string' ? parseExpiration(value) : undefined
  if (time === undefined) {
    throw new PluginAnswerError(
      asked.command,
      'status.expirationTimestamp',
      'returned an expirationTimestamp that is not RFC 3339',
      { ...asked.facts, hint: 'Write it like 2030-01-31T12:00:00Z.' },
    )
  }
  return time
}

function readUnixExpiry(status: Fields, asked: Asked): number {
  const value = status['expiry'] ?? 0
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new PluginAnswerError(
      asked.command,
      'expiry',
      'returned an expiry that is not a unix time in seconds',
      asked.facts,
    )
  }
  return value === 0 ? Number.POSITIVE_INFINITY : value * 1000
}

export function isAlpha(apiVersion: ApiVersion): boolean {
  return apiVersion === `${GROUP}/v1alpha1`
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
 * @throws {PluginSilentError | PluginSyntaxError} Neither quotes the output.
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
    throw new PluginSilentError(command, 'ended with status 0 but printed nothing', facts)
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
    throw new PluginSyntaxError(command, `printed ${nameType(parsed)} where an object belongs`, {
      ...facts,
      hint: ONLY_THE_ANSWER,
    })
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
