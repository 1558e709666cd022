import { isHeaderSafe } from '../credential/credential.ts'
import { PluginOutputInvalidError, type PluginRunFacts } from '../errors/index.ts'
import { describeType, type Fields, isFields } from '../formats/plain-object.ts'
import { parseExpiration } from '../formats/rfc3339.ts'
import { type ApiVersion, GROUP } from '../kubeconfig/exec-config.ts'
import { Secret } from '../secret/secret.ts'

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
 * @throws {PluginOutputInvalidError} With the path of the first field that is wrong.
 */
export function readExecStatus(answer: Fields, asked: Asked): ExecAnswer {
  const { command, facts, apiVersion } = asked
  const flat = answer['status'] === undefined && isAlpha(apiVersion)
  const status = flat ? answer : answer['status']
  if (status === undefined || status === null) {
    throw new PluginOutputInvalidError(command, 'status', "didn't return a status field", facts)
  }
  if (!isFields(status)) {
    throw new PluginOutputInvalidError(
      command,
      'status',
      `returned ${describeType(status)} as status where an object belongs`,
      facts,
    )
  }
  const text = (field: string): string => readText(status, field, asked)
  const token = readToken(text('token'), asked)
  const chain = text('clientCertificateData')
  const key = text('clientKeyData')
  if (token === undefined && chain === '' && key === '') {
    throw new PluginOutputInvalidError(
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
    expiresAt: flat ? readUnixExpiry(status, asked) : readExpiry(status, asked),
  }
}

function readText(status: Fields, field: string, { command, facts }: Asked): string {
  const value = status[field]
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw new PluginOutputInvalidError(
    command,
    `status.${field}`,
    `returned ${describeType(value)} as status.${field} where text belongs`,
    { ...facts, hint: `Put the value of ${field} in quotes.` },
  )
}

/** A header carries printable ASCII only; a line break at the end is the most common mistake of shell scripts. */
function readToken(token: string, { command, facts }: Asked): Secret | undefined {
  if (token === '') return undefined
  if (isHeaderSafe(token)) return new Secret(token)
  const what = /[\r\n]/.test(token) ? 'a line break' : 'a character that no HTTP header can carry'
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

function readExpiry(status: Fields, asked: Asked): number {
  const value = status['expirationTimestamp']
  if (value === undefined || value === null) return Number.POSITIVE_INFINITY
  const time = typeof value === 'string' ? parseExpiration(value) : undefined
  if (time === undefined) {
    throw new PluginOutputInvalidError(
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
    throw new PluginOutputInvalidError(
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
