import { PluginOutputInvalidError } from '../../errors/index.ts'
import { describeType, isFields } from '../../formats/plain-object.ts'
import { formatRfc3339 } from '../../formats/rfc3339.ts'
import { Secret } from '../../secret/secret.ts'
import type { PluginInfo } from '../exec-info.ts'
import { type ExecAnswer, readExecStatus } from '../exec-status.ts'
import { programName } from './plugin-process.ts'

interface WithExpiry {
  /**
   * A Date, milliseconds since the epoch, or RFC 3339.
   *
   * Without it, clients use the credential until the server refuses it.
   */
  readonly expirationTimestamp?: Date | number | string | undefined
}

interface WithToken extends WithExpiry {
  readonly token: Secret | string
  readonly clientCertificateData?: undefined
  readonly clientKeyData?: undefined
}

interface WithCertificate extends WithExpiry {
  readonly token?: Secret | string | undefined
  /** PEM, leaf first. */
  readonly clientCertificateData: string
  /** PEM, not encrypted. */
  readonly clientKeyData: Secret | string
}

/** What a plugin can return, in any version: a token, a certificate with its key, or both. */
export type PluginCredential = WithToken | WithCertificate

/**
 * Encodes the answer of a plugin as one line of JSON, in the requested version. Print it to standard output.
 *
 * The answer is checked as a client would check it, so that the author of a plugin sees mistakes before its users do: a
 * token that cannot be sent in a header, a certificate without its key, an invalid date.
 *
 * @throws {PluginOutputInvalidError} `ERR_PLUGIN_OUTPUT_INVALID` with the name of the invalid field, never its value.
 *
 * @example
 * const info = await readExecInfo()
 * process.stdout.write(answer({ token: await logIn(), expirationTimestamp: Date.now() + 3_600_000 }, info))
 */
export function encodeExecCredential(
  credential: PluginCredential,
  info: Pick<PluginInfo, 'apiVersion'>,
): string {
  return checkedAnswer(credential, info).text
}

interface CheckedAnswer {
  readonly text: string
  /** The answer as a client reads it. */
  readonly read: ExecAnswer
}

/** Encodes and checks an answer. Returns the text, and what a client reads from it. */
export function checkedAnswer(
  credential: unknown,
  { apiVersion }: Pick<PluginInfo, 'apiVersion'>,
): CheckedAnswer {
  const command = programName()
  const status = writeStatus(credential, command)
  const object = { kind: 'ExecCredential', apiVersion, status }
  return { text: JSON.stringify(object), read: readExecStatus(object, { apiVersion, command }) }
}

const FIELDS = ['token', 'clientCertificateData', 'clientKeyData', 'expirationTimestamp'] as const

function writeStatus(credential: unknown, command: string): Readonly<Record<string, unknown>> {
  if (!isFields(credential)) {
    throw new PluginOutputInvalidError(
      command,
      'status',
      `returned ${credential === undefined ? 'nothing' : describeType(credential)} instead of an object`,
      { hint: 'Return { token, expirationTimestamp } from the function.' },
    )
  }
  const unknown = Object.keys(credential).find(
    (key) => !(FIELDS as readonly string[]).includes(key),
  )
  if (unknown !== undefined) {
    throw new PluginOutputInvalidError(
      command,
      `status.${unknown}`,
      `returned an unknown field: ${JSON.stringify(unknown.slice(0, 40))}`,
      { hint: `Return only ${FIELDS.join(', ')}.` },
    )
  }
  const { expirationTimestamp, ...secrets } = credential
  return {
    ...Object.fromEntries(Object.entries(secrets).map(([key, value]) => [key, expose(value)])),
    expirationTimestamp: writeTime(expirationTimestamp, command),
  }
}

function expose(value: unknown): unknown {
  return value instanceof Secret ? value.expose() : value
}

/** A smaller number would be in 1973 or before, so it must be in seconds, as in the `exp` of a JWT. */
const MIN_PLAUSIBLE_MS = 100_000_000_000

function writeTime(time: unknown, command: string): unknown {
  const isDate = time instanceof Date
  if (!isDate && typeof time !== 'number') return time
  const milliseconds = Math.floor(isDate ? time.getTime() : time)
  const wrong = (what: string, hint: string): PluginOutputInvalidError =>
    new PluginOutputInvalidError(command, 'status.expirationTimestamp', `returned ${what}`, {
      hint,
    })
  if (!Number.isFinite(milliseconds)) {
    throw wrong('an invalid expirationTimestamp', 'Leave it out if the credential does not expire.')
  }
  if (!isDate && Math.abs(milliseconds) < MIN_PLAUSIBLE_MS) {
    throw wrong(
      'an expirationTimestamp that looks like seconds',
      'Pass milliseconds since the epoch (times 1000), a Date, or RFC 3339.',
    )
  }
  return formatRfc3339(milliseconds)
}
