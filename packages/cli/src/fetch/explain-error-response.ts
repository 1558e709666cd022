import type { Cluster } from 'kubecred'
import type { PlainResponse } from 'kubecred/internal'
import type { Call } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { describePause } from '../render/describe-event.ts'
import { describeSource } from '../render/describe-source.ts'
import type { EventSummary } from '../render/event-log.ts'
import { printableLine } from '../render/printable.ts'
import { statusLine } from './send-logged.ts'

/** A response with status 400 or more, and the beginning of its body. */
export interface Refusal {
  readonly response: PlainResponse
  readonly text: string
  readonly path: string
  /** Whether the request had its own Authorization header. */
  readonly hasOwnCredential?: boolean
  /** Additional explanations of the command, by status. */
  readonly remarks?: Readonly<Record<number, string>>
}

/** Prints the server's message to standard error and, for a 401, the cause and what to do. Returns the exit status. */
export function explainErrorResponse(call: Call, cluster: Cluster, refusal: Refusal): number {
  const { stderr } = call
  const { response, text, remarks } = refusal
  const message = readStatusMessage(text)
  const line = `HTTP ${statusLine(response)}`
  stderr.line(stderr.palette.red(message === undefined ? line : `${line}: ${message}`))
  const remark = remarks?.[response.status]
  if (remark !== undefined) stderr.line(remark)
  if (response.status === 401) stderr.line(explain401(call, cluster, refusal))
  return EXIT.refused
}

/** Returns the message of a Kubernetes Status, or undefined if the body is not one. */
function readStatusMessage(text: string): string | undefined {
  try {
    const { kind, message } = JSON.parse(text) as { kind?: unknown; message?: unknown }
    const isStatus = kind === 'Status' && typeof message === 'string'
    return isStatus && message !== '' ? printableLine(message) : undefined
  } catch {
    return undefined
  }
}

function explain401({ log, io }: Call, cluster: Cluster, refusal: Refusal): string {
  if (refusal.hasOwnCredential) {
    return 'The server refused the Authorization header given with -H; no credential of the kubeconfig was sent.'
  }
  const { credential } = cluster.status()
  const source = describeSource(credential.source)
  // There is no event: without a credential none can be refused.
  if (credential.source.kind === 'anonymous') {
    return 'No credential was sent, because the user entry has none, and the server does not allow anonymous requests.'
  }
  if (log.facts.refusals === 0) {
    return `The 401 came from a service behind the API server (${source} was not refused), so nothing was refreshed.`
  }
  switch (credential.source.kind) {
    case 'exec':
      return explainPlugin(`The server refused the credential of ${source}`, {
        refresh: log.facts.refresh,
        pause: describePause(credential.nextTryAt, io.now()),
        lastError: credential.lastError?.message,
      })
    case 'oidc':
      return `The server refused the id token of ${source}. Check that the API server trusts this issuer and client id, and log in again.`
    case 'signer':
      return `The server refused the certificate of ${source}, and no other is available. Check that the certificate was issued for ${cluster.server}.`
    case 'login':
    case 'vault':
      return `The server refused the credential of ${source}.`
    case 'token-file':
    case 'certificate-files':
      return `The server refused the content of ${source}, also after reading it again. Renew the file, or check that it is meant for ${cluster.server}.`
    case 'static':
      return `The server refused the ${source}. It cannot be refreshed: get a new one.`
  }
}

interface PluginFacts {
  readonly refresh: EventSummary['refresh']
  readonly pause: string
  readonly lastError: string | undefined
}

function explainPlugin(refused: string, { refresh, pause, lastError }: PluginFacts): string {
  switch (refresh) {
    case 'new':
      return `${refused}, and also the new one after it ran again. Check that the plugin logs in to the right account for this cluster.`
    case 'same':
      return `${refused}, and it returned the same one again. Log in again with the plugin, or clear its cache.`
    case 'failed':
      return `${refused}, and then the plugin failed: ${printableLine(lastError ?? 'unknown reason')}${pause}.`
    case 'none':
      return `${refused}, which was not run again${pause}.`
  }
}
