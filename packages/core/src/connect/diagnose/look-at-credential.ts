import type { CredentialEvent } from '../../ports/observer.ts'
import type { Credential } from '../../protocol/credential.ts'
import { formatRfc3339 } from '../../protocol/rfc3339.ts'
import type { Cluster } from '../cluster.ts'
import { failure, type Look } from './finding.ts'
import { readClaims } from './read-claims.ts'
import { spanOf } from './span-of.ts'

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
