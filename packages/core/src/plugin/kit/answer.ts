import { PluginOutputInvalidError } from '../../errors/index.ts'
import { describeType, isFields } from '../../formats/plain-object.ts'
import { formatRfc3339 } from '../../formats/rfc3339.ts'
import { Secret } from '../../secret/secret.ts'
import type { PluginInfo } from '../exec-info.ts'
import { type ExecAnswer, readExecStatus } from '../exec-status.ts'
import { programName } from './plugin-process.ts'

interface Expiring {
  /** A Date, milliseconds since the epoch, or RFC 3339. Without it the credential is kept until the server refuses it. */
  readonly expirationTimestamp?: Date | number | string | undefined
}

interface WithToken extends Expiring {
  readonly token: Secret | string
  readonly clientCertificateData?: undefined
  readonly clientKeyData?: undefined
}

interface WithCertificate extends Expiring {
  readonly token?: Secret | string | undefined
  /** PEM, leaf first. */
  readonly clientCertificateData: string
  /** PEM, not encrypted. */
  readonly clientKeyData: Secret | string
}

/** What a plugin can answer, in every version: a token, a certificate with its key, or all three. */
export type PluginCredential = WithToken | WithCertificate

/**
 * Writes what a plugin prints to standard output: one line of JSON, in the version it was asked in.
 *
 * It goes through the checks of our own reader first, so that a mistake shows at the author's desk and not
 * at the user's: a token that no header can carry, a certificate without its key, a date that is none.
 *
 * @throws {PluginOutputInvalidError} Names the field, never its value.
 */
export function answer(credential: PluginCredential, info: Pick<PluginInfo, 'apiVersion'>): string {
  return checkedAnswer(credential, info).text
}

interface CheckedAnswer {
  readonly text: string
  /** The same as a client will read it. */
  readonly read: ExecAnswer
}

/** The text, and how a client will understand it. */
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
      `returned ${credential === undefined ? 'nothing' : describeType(credential)} where an object belongs`,
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
      `returned a field that no client reads: ${JSON.stringify(unknown.slice(0, 40))}`,
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

/** Below this, milliseconds mean the year 1970: somebody passed seconds, as tokens have them in `exp`. */
const SURELY_SECONDS = 100_000_000_000

function writeTime(time: unknown, command: string): unknown {
  const isDate = time instanceof Date
  if (!isDate && typeof time !== 'number') return time
  const milliseconds = Math.floor(isDate ? time.getTime() : time)
  const wrong = (what: string, hint: string): PluginOutputInvalidError =>
    new PluginOutputInvalidError(command, 'status.expirationTimestamp', `returned ${what}`, {
      hint,
    })
  if (!Number.isFinite(milliseconds)) {
    throw wrong('an expirationTimestamp that is no time', 'Leave it out if there is none.')
  }
  if (!isDate && Math.abs(milliseconds) < SURELY_SECONDS) {
    throw wrong(
      'an expirationTimestamp that looks like seconds',
      'Pass milliseconds since the epoch (times 1000), a Date, or RFC 3339.',
    )
  }
  return formatRfc3339(milliseconds)
}
