import { Readable } from 'node:stream'
import { UNTRUSTED } from '../errors/connection-reasons.ts'
import { ServerUntrustedError } from '../errors/index.ts'
import type { ExecResponse } from '../protocol/encode-exec-info.ts'
import type { Lease } from '../vault/lease.ts'
import type { Incoming } from './exchange.ts'
import { readAlert } from './network-errors.ts'

/** What of a refusal is kept for the caller; Kubernetes writes a few hundred bytes. */
const MOST_REFUSAL_BYTES = 64 * 1024
/** How long it may take to arrive; a body that drips must not hold up the refresh. */
const LONGEST_REFUSAL_MS = 2000

/** A refusal without an answer: the handshake failed. */
const ALERTED: ExecResponse = { code: 401, header: {} }

/** The credential was not even sent: its login names a server that cannot be trusted. */
const UNUSABLE: ExecResponse = { code: 0, header: {} }

/** What it says about a credential that there was no answer; undefined when nothing. */
export function unansweredRefusal(
  error: unknown,
  { credential, endpoint }: Pick<Lease, 'credential' | 'endpoint'>,
): ExecResponse | undefined {
  if (readAlert(error) !== undefined) return credential.certificate && ALERTED
  // A login that names a server we cannot trust with its CA is no use; another login may do better.
  return endpoint !== undefined && isAboutTrust(error) ? UNUSABLE : undefined
}

function isAboutTrust(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as { code?: string }
  return error instanceof ServerUntrustedError || UNTRUSTED[code] !== undefined
}

/** What a v1alpha1 plugin is told: the status and the headers, names as Go writes them. */
export function refusalOf({
  statusCode,
  headers,
}: Pick<Incoming, 'statusCode' | 'headers'>): ExecResponse {
  const header: Record<string, string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    const canonical = name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
    if (value !== undefined) header[canonical] = Array.isArray(value) ? value : [value]
  }
  return { code: statusCode, header }
}

/** Reads the refusal's body now: the caller may get it after the connection has gone on to other things. */
export async function keepBody(incoming: Incoming): Promise<Incoming> {
  const chunks: Buffer[] = []
  let size = 0
  const timer = setTimeout(() => incoming.body.destroy(), LONGEST_REFUSAL_MS)
  try {
    for await (const chunk of incoming.body) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > MOST_REFUSAL_BYTES) break
    }
  } catch {
    // What came is enough: the status is what counts.
  } finally {
    clearTimeout(timer)
  }
  return { ...incoming, body: Readable.from(chunks.length === 0 ? [] : [Buffer.concat(chunks)]) }
}
