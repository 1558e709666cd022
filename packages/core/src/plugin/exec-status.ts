import { isHeaderSafe } from '../credential/credential.ts'
import { PluginOutputInvalidError, type PluginRunFacts } from '../errors/index.ts'
import { describeType, type Fields, isFields } from '../formats/plain-object.ts'
import { isUnixTime, parseExpiration } from '../formats/rfc3339.ts'
import { type ApiVersion, GROUP } from '../kubeconfig/exec-config.ts'
import { Secret } from '../secret/secret.ts'

/** The answer of a plugin. Everything is checked except the certificate itself. */
export interface ExecAnswer {
  readonly token?: Secret
  readonly certificate?: { readonly chain: string; readonly key: Secret }
  /** Milliseconds since the epoch; `Infinity` if the plugin set no expiry. */
  readonly expiresAt: number
}

/** The plugin run that an answer belongs to: the version to expect, and facts for errors. */
export interface AnswerContext {
  readonly apiVersion: ApiVersion
  readonly command: string
  readonly facts?: PluginRunFacts
}

/**
 * Reads the credential from an answer whose kind and version have been checked.
 *
 * @throws {PluginOutputInvalidError} `ERR_PLUGIN_OUTPUT_INVALID` with the path of the first invalid field.
 */
export function readExecStatus(answer: Fields, context: AnswerContext): ExecAnswer {
  const { command, facts, apiVersion } = context
  const flat = answer['status'] === undefined && isAlpha(apiVersion)
  const status = flat ? answer : answer['status']
  if (status === undefined || status === null) {
    throw new PluginOutputInvalidError(command, 'status', "didn't return a status field", facts)
  }
  if (!isFields(status)) {
    throw new PluginOutputInvalidError(
      command,
      'status',
      `returned ${describeType(status)} as status instead of an object`,
      facts,
    )
  }
  const text = (field: string): string => readText(status, field, context)
  const token = readToken(text('token'), context)
  const chain = text('clientCertificateData')
  const key = text('clientKeyData')
  if (token === undefined && chain === '' && key === '') {
    throw new PluginOutputInvalidError(
      command,
      'status',
      "didn't return a token or a certificate with its key",
      {
        ...facts,
        hint: 'Check that you are logged in: the plugin returned an empty answer.',
      },
    )
  }
  if ((chain === '') !== (key === '')) {
    const [has, lacks] =
      chain === '' ? ['key', 'clientCertificateData'] : ['certificate', 'clientKeyData']
    throw new PluginOutputInvalidError(
      command,
      `status.${lacks}`,
      `returned only a ${has}: status.${lacks} is missing`,
      facts,
    )
  }
  return {
    ...(token && { token }),
    ...(chain !== '' && { certificate: { chain, key: new Secret(key) } }),
    expiresAt: flat ? readUnixExpiry(status, context) : readExpiry(status, context),
  }
}

function readText(status: Fields, field: string, { command, facts }: AnswerContext): string {
  const value = status[field]
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw new PluginOutputInvalidError(
    command,
    `status.${field}`,
    `returned ${describeType(value)} as status.${field} instead of a string`,
    { ...facts, hint: `Put the value of ${field} in quotes.` },
  )
}

/** HTTP headers allow printable ASCII only. A trailing line break is the most common mistake of shell scripts. */
function readToken(token: string, { command, facts }: AnswerContext): Secret | undefined {
  if (token === '') return undefined
  if (isHeaderSafe(token)) return new Secret(token)
  const what = /[\r\n]/.test(token)
    ? 'a line break'
    : 'a character that is not allowed in an HTTP header'
  throw new PluginOutputInvalidError(
    command,
    'status.token',
    `returned a token with ${what} in it`,
    {
      ...facts,
      hint: /\s$/.test(token)
        ? 'Remove the white space at the end of the token (in a shell: printf, not echo).'
        : 'Remove everything from the token that is not printable ASCII.',
    },
  )
}

function readExpiry(status: Fields, context: AnswerContext): number {
  const value = status['expirationTimestamp']
  if (value === undefined || value === null) return Number.POSITIVE_INFINITY
  const time = typeof value === 'string' ? parseExpiration(value) : undefined
  if (time === undefined) {
    throw new PluginOutputInvalidError(
      context.command,
      'status.expirationTimestamp',
      'returned an expirationTimestamp that is not RFC 3339',
      { ...context.facts, hint: 'Write it like 2030-01-31T12:00:00Z.' },
    )
  }
  return time
}

function readUnixExpiry(status: Fields, context: AnswerContext): number {
  const value = status['expiry'] ?? 0
  if (typeof value !== 'number' || !isUnixTime(value) || value < 0) {
    throw new PluginOutputInvalidError(
      context.command,
      'expiry',
      'returned an expiry that is not a unix time in seconds',
      context.facts,
    )
  }
  return value === 0 ? Number.POSITIVE_INFINITY : value * 1000
}

/** Whether this is v1alpha1, which has rules of its own. */
export function isAlpha(apiVersion: ApiVersion): boolean {
  return apiVersion === `${GROUP}/v1alpha1`
}
