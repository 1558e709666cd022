import type { Cluster } from '../connect/cluster.ts'
import type { Credential } from '../credential/credential.ts'
import { describeNeededLogin } from '../errors/index.ts'
import { formatRfc3339 } from '../formats/rfc3339.ts'
import type { CredentialEvent } from '../ports/observer.ts'
import { readBodyStart } from '../request/read-body-start.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import { failure, formatDuration, readClaims, type StepResult } from './finding.ts'

const MAX_STDERR_LINES = 10

/** Obtains the credential, which runs the plugin or reads the files, and describes it. */
export async function checkCredential(
  cluster: Cluster,
  events: readonly CredentialEvent[],
  { signal, now }: { signal: AbortSignal | undefined; now: () => number },
): Promise<StepResult> {
  try {
    const credential = await cluster.credential(signal && { signal })
    return describe(credential, events, now())
  } catch (error) {
    signal?.throwIfAborted()
    const failed = failure(error, [...describeRuns(events), ...stderrLines(error)])
    const { loginCommand } = error as { loginCommand?: string }
    if (loginCommand === undefined) return failed
    const summary = describeNeededLogin(loginCommand)
    return { ...failed, summary, details: [failed.summary, ...(failed.details ?? [])] }
  }
}

function describe(
  { expiresAt, ...credential }: Credential & { readonly expiresAt?: number },
  events: readonly CredentialEvent[],
  now: number,
): StepResult {
  const details = describeRuns(events)
  const parts: string[] = []
  const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
  const { token, basic, certificate } = credential
  if (token !== undefined) parts.push(describeToken(token.expose(), now, details, warnings))
  if (basic !== undefined) parts.push('user name and password')
  if (certificate !== undefined) {
    const { notAfter, notBefore } = certificate
    parts.push(
      certificate.signingKey === undefined
        ? 'certificate and key'
        : 'certificate with an external key',
    )
    details.push(`certificate valid from ${formatRfc3339(notBefore)} to ${formatRfc3339(notAfter)}`)
    if (notAfter <= now)
      warnings.push(`the certificate expired ${formatDuration(now - notAfter)} ago`)
  }
  if (expiresAt !== undefined) {
    const left = expiresAt - now
    if (left > 0) parts.push(`valid for ${formatDuration(left)}`)
    else warnings.push(`the source reports that it expired ${formatDuration(-left)} ago`)
  }
  return {
    verdict: warnings.length > 0 ? 'warning' : 'ok',
    summary: parts.join(', ') || 'none: requests are anonymous',
    details: [...details, ...new Set(warnings)],
    ...(warnings.length > 0 && { remedy: 'Log in again with the tool that issued it.' }),
  }
}

/** Describes a token. The claims of a JWT may be shown; only its signature is secret. */
function describeToken(token: string, now: number, details: string[], warnings: string[]): string {
  const claims = readClaims(token)
  if (claims === undefined) return 'a token'
  const { issuer, audience, expiresAt } = claims
  if (issuer !== undefined) details.push(`issued by: ${issuer}`)
  if (audience !== undefined) details.push(`audience: ${audience}`)
  if (expiresAt !== undefined && expiresAt <= now) {
    warnings.push(`the token expired ${formatDuration(now - expiresAt)} ago`)
  }
  return 'a token (JWT)'
}

/** Returns the end of the plugin's standard error, which often says what to do. */
function stderrLines(error: unknown): string[] {
  const { stderrTail } = (error ?? {}) as { stderrTail?: unknown }
  if (typeof stderrTail !== 'string') return []
  const lines = stderrTail.split('\n').filter((line) => line.trim() !== '')
  return lines.slice(-MAX_STDERR_LINES).map((line) => `stderr: ${line}`)
}

/** Describes how each process of the plugin ended. */
function describeRuns(events: readonly CredentialEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type !== 'plugin-ended') return []
    const { exitStatus, tookMs, isStarted } = event.process
    if (!isStarted) return ['the plugin could not be started']
    const how =
      exitStatus === undefined ? 'was stopped' : `exited with status ${String(exitStatus)}`
    return [`the plugin ${how} after ${formatDuration(tookMs)}`]
  })
}

const REVIEW = 'authentication.k8s.io/v1'
const PATH = `/apis/${REVIEW}/selfsubjectreviews`
/** Smaller differences between the clocks of server and client are normal. */
const TOLERATED_SKEW_MS = 30_000
const MAX_MESSAGE_LENGTH = 300
/** Far more than a user with thousands of groups needs. */
const MAX_REVIEW_BYTES = 1024 * 1024
const ANONYMOUS = 'system:anonymous'

/** Asks the server who the credential belongs to, with a SelfSubjectReview. */
export async function checkIdentity(
  cluster: Cluster,
  { signal, now }: { signal: AbortSignal | undefined; now: () => number },
): Promise<StepResult> {
  try {
    const response = await cluster.fetch(PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ apiVersion: REVIEW, kind: 'SelfSubjectReview' }),
      ...(signal && { signal }),
    })
    const skew = skewOf(response.headers.get('date'), now())
    const text = String(await readBodyStart(response, MAX_REVIEW_BYTES))
    // A finding must not contain secrets, and a server may echo what it was sent.
    const show = (raw: string): string => showControlCharacters(cluster.hideSecrets(raw))
    return response.ok
      ? describeIdentity(readReview(text, show), skew)
      : describeError(response.status, readMessage(text, show), skew)
  } catch (error) {
    signal?.throwIfAborted()
    return failure(error)
  }
}

function describeIdentity({ username, groups }: Review, skew: string | undefined): StepResult {
  const details = [
    ...(groups.length > 0 ? [`groups: ${groups.join(', ')}`] : []),
    ...(skew === undefined ? [] : [skew]),
  ]
  if (username === undefined) {
    return {
      verdict: 'error',
      summary: 'the response is not a SelfSubjectReview: this is not a Kubernetes API server',
      details,
      remedy: 'Check the server address of the cluster entry and any proxy in between.',
    }
  }
  const isAnonymous = username === ANONYMOUS
  return {
    verdict: isAnonymous || skew !== undefined ? 'warning' : 'ok',
    summary: isAnonymous ? `the server treats the request as ${ANONYMOUS}` : username,
    details,
    ...(isAnonymous && {
      remedy: 'Check the credential: the server accepted the request as if it had none.',
    }),
    ...(!isAnonymous && skew !== undefined && { remedy: 'Correct the clock of this machine.' }),
  }
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: 'Log in again, and check that the credential was issued for this cluster.',
  403: 'Ask the administrator to bind system:basic-user: the server authenticated you but does not allow a SelfSubjectReview.',
  404: 'Try another request: servers before Kubernetes 1.28 have no SelfSubjectReview, and the credential may be valid.',
}

function describeError(
  status: number,
  message: string | undefined,
  skew: string | undefined,
): StepResult {
  if (message?.includes(ANONYMOUS)) {
    return {
      verdict: 'error',
      summary: `the server treats the request as ${ANONYMOUS}`,
      remedy:
        'Add a way to authenticate to the user entry, or choose another one with --user or --context.',
    }
  }
  return {
    // A 403 or a 404 is only sent after the request was authenticated.
    verdict: status === 403 || status === 404 ? 'warning' : 'error',
    summary: `the server answered ${status}${message === undefined ? '' : `: ${message}`}`,
    details: skew === undefined ? [] : [skew],
    remedy: REMEDIES[status] ?? 'Ask the administrator of the server to look at its log.',
  }
}

function skewOf(date: string | null, now: number): string | undefined {
  const server = date === null ? Number.NaN : Date.parse(date)
  const difference = now - server
  if (!(Math.abs(difference) > TOLERATED_SKEW_MS)) return undefined
  const side = difference > 0 ? 'ahead of' : 'behind'
  return `the clock of this machine is ${formatDuration(Math.abs(difference))} ${side} the server's`
}

interface Review {
  readonly username: string | undefined
  readonly groups: readonly string[]
}

function readReview(text: string, show: (raw: string) => string): Review {
  const { username, groups } = (parse(text) as { status?: { userInfo?: Record<string, unknown> } })
    ?.status?.userInfo ?? { username: undefined, groups: undefined }
  const list: unknown[] = Array.isArray(groups) ? groups : []
  return {
    username: typeof username === 'string' ? show(username) : undefined,
    groups: list.map((group) => show(String(group))),
  }
}

function readMessage(text: string, show: (raw: string) => string): string | undefined {
  const { message } = (parse(text) ?? {}) as { message?: unknown }
  return typeof message === 'string' ? show(message).slice(0, MAX_MESSAGE_LENGTH) : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
