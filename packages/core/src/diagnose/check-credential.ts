import type { Cluster } from '../connect/cluster.ts'
import type { Credential } from '../credential/credential.ts'
import { formatRfc3339 } from '../formats/rfc3339.ts'
import type { CredentialEvent } from '../ports/observer.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import { failure, type Look, readClaims, spanOf } from './finding.ts'

const MOST_LINES = 10

/** Gets the credential: runs the plugin, reads the files. */
export async function lookAtCredential(
  cluster: Cluster,
  events: readonly CredentialEvent[],
  { signal, now }: { signal: AbortSignal | undefined; now: () => number },
): Promise<Look> {
  try {
    const given = await cluster.credential(signal && { signal })
    return describe(given, events, now())
  } catch (error) {
    signal?.throwIfAborted()
    return failure(error, [...ranOf(events), ...saidBy(error)])
  }
}

function describe(
  { expiresAt, ...credential }: Credential & { readonly expiresAt?: number },
  events: readonly CredentialEvent[],
  now: number,
): Look {
  const details = ranOf(events)
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
        : 'certificate with a key elsewhere',
    )
    details.push(`certificate valid from ${formatRfc3339(notBefore)} to ${formatRfc3339(notAfter)}`)
    if (notAfter <= now) warnings.push(`the certificate expired ${spanOf(now - notAfter)} ago`)
  }
  if (expiresAt !== undefined) {
    const left = expiresAt - now
    if (left > 0) parts.push(`valid for ${spanOf(left)}`)
    else warnings.push(`it expired ${spanOf(-left)} ago, as the source itself says`)
  }
  return {
    verdict: warnings.length > 0 ? 'odd' : 'good',
    summary: parts.join(', ') || 'nothing: requests are anonymous',
    details: [...details, ...new Set(warnings)],
    ...(warnings.length > 0 && { remedy: 'Log in again with the tool that made it.' }),
  }
}

/** A JWT says for whom it is and how long; that is no secret, the signature is. */
function describeToken(token: string, now: number, details: string[], warnings: string[]): string {
  const claims = readClaims(token)
  if (claims === undefined) return 'a token'
  const { issuer, audience, expiresAt } = claims
  if (issuer !== undefined) details.push(`issued by: ${issuer}`)
  if (audience !== undefined) details.push(`made for: ${audience}`)
  if (expiresAt !== undefined && expiresAt <= now) {
    warnings.push(`the token expired ${spanOf(now - expiresAt)} ago`)
  }
  return 'a token (JWT)'
}

/** The last words of the plugin, which often say what to do. */
function saidBy(error: unknown): string[] {
  const { stderrTail } = (error ?? {}) as { stderrTail?: unknown }
  if (typeof stderrTail !== 'string') return []
  const lines = stderrTail.split('\n').filter((line) => line.trim() !== '')
  return lines.slice(-MOST_LINES).map((line) => `it said: ${line}`)
}

/** How the plugin's process ended. */
function ranOf(events: readonly CredentialEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type !== 'plugin-ended') return []
    const { exitStatus, tookMs, isStarted } = event.process
    if (!isStarted) return ['the plugin could not be started']
    const how =
      exitStatus === undefined ? 'was stopped' : `ended with exit status ${String(exitStatus)}`
    return [`the plugin ${how} after ${spanOf(tookMs)}`]
  })
}

const REVIEW = 'authentication.k8s.io/v1'
const PATH = `/apis/${REVIEW}/selfsubjectreviews`
/** Servers and laptops are never quite of one mind. */
const TOLERATED_SKEW_MS = 30_000
const LONGEST = 300
const ANONYMOUS = 'system:anonymous'

/** Who the server says we are. */
export async function askIdentity(
  cluster: Cluster,
  { signal, now }: { signal: AbortSignal | undefined; now: () => number },
): Promise<Look> {
  try {
    const response = await cluster.fetch(PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ apiVersion: REVIEW, kind: 'SelfSubjectReview' }),
      ...(signal && { signal }),
    })
    const skew = skewOf(response.headers.get('date'), now())
    const text = await response.text()
    // Everybody may read a finding, and a server can repeat what it was sent.
    const show = (said: string): string => showControlCharacters(cluster.hideSecrets(said))
    return response.ok
      ? recognised(readReview(text, show), skew)
      : refused(response.status, readMessage(text, show), skew)
  } catch (error) {
    signal?.throwIfAborted()
    return failure(error)
  }
}

function recognised({ username, groups }: Review, skew: string | undefined): Look {
  const details = [
    ...(groups.length > 0 ? [`groups: ${groups.join(', ')}`] : []),
    ...(skew === undefined ? [] : [skew]),
  ]
  if (username === undefined) {
    return {
      verdict: 'bad',
      summary: 'what answers is no API server: its answer is no SelfSubjectReview',
      details,
      remedy: 'Check the server address of the cluster entry, and the proxy on the way.',
    }
  }
  const isAnonymous = username === ANONYMOUS
  return {
    verdict: isAnonymous || skew !== undefined ? 'odd' : 'good',
    summary: isAnonymous ? `the server does not know who is asking (${ANONYMOUS})` : username,
    details,
    ...(isAnonymous && {
      remedy: 'Check the credential: the server took the request without one.',
    }),
    ...(!isAnonymous && skew !== undefined && { remedy: 'Set the clock of this machine.' }),
  }
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: 'The server does not accept this credential: log in again, and check that it was made for this cluster and not another.',
  403: 'The server knows you but forbids the question itself; ask its administrator about system:basic-user.',
  404: 'Servers before Kubernetes 1.28 cannot say who you are; the credential may be good all the same.',
}

function refused(status: number, said: string | undefined, skew: string | undefined): Look {
  if (said?.includes(ANONYMOUS)) {
    return {
      verdict: 'bad',
      summary: `the server does not know who is asking (${ANONYMOUS})`,
      remedy:
        'Give the user entry a way to log in, or choose another one with --user or --context.',
    }
  }
  return {
    // Somebody who is known well enough to be forbidden something is authenticated.
    verdict: status === 403 || status === 404 ? 'odd' : 'bad',
    summary: `the server answered ${status}${said === undefined ? '' : `: ${said}`}`,
    details: skew === undefined ? [] : [skew],
    remedy: REMEDIES[status] ?? 'Ask the administrator of the server; its log says more.',
  }
}

function skewOf(date: string | null, now: number): string | undefined {
  const server = date === null ? Number.NaN : Date.parse(date)
  const difference = now - server
  if (!(Math.abs(difference) > TOLERATED_SKEW_MS)) return undefined
  const side = difference > 0 ? 'ahead of' : 'behind'
  return `the clock of this machine is ${spanOf(Math.abs(difference))} ${side} the server's`
}

interface Review {
  readonly username: string | undefined
  readonly groups: readonly string[]
}

function readReview(text: string, show: (said: string) => string): Review {
  const { username, groups } = (parse(text) as { status?: { userInfo?: Record<string, unknown> } })
    ?.status?.userInfo ?? { username: undefined, groups: undefined }
  const list: unknown[] = Array.isArray(groups) ? groups : []
  return {
    username: typeof username === 'string' ? show(username) : undefined,
    groups: list.map((group) => show(String(group))),
  }
}

function readMessage(text: string, show: (said: string) => string): string | undefined {
  const { message } = (parse(text) ?? {}) as { message?: unknown }
  return typeof message === 'string' ? show(message).slice(0, LONGEST) : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
