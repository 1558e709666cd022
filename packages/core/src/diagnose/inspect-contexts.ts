import process from 'node:process'
import type { ConnectOptions } from '../connect/connect-options.ts'
import { isCredentialError } from '../errors/index.ts'
import { buildConnection } from '../kubeconfig/build-connection.ts'
import type { UserIdentity } from '../kubeconfig/connection.ts'
import { signerName } from '../kubeconfig/external-signer-config.ts'
import type { Kubeconfig } from '../kubeconfig/kubeconfig.ts'
import { hostEnvironment } from '../node/environment.ts'
import { buildContext, readKubeconfigs } from '../node/load-kubeconfig.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { nodeFiles } from '../node/node-files.ts'
import { systemClock } from '../node/system-clock.ts'
import type { SourceLabel } from '../ports/observer.ts'
import { chooseSource } from '../sources/choose-source.ts'
import { readClaims } from './finding.ts'

/** What the kubeconfig says about one context's credential: plain data, no secrets. */
export interface ContextSummary {
  readonly context: string
  readonly isCurrent: boolean
  readonly server?: string
  readonly source?: SourceLabel
  /**
   * `valid` if it has not expired, `unchecked` if it has no known expiry, `unknown` if only the plugin, issuer or signer can
   * tell, `invalid` if the entry cannot be used. The server is not asked.
   */
  readonly state: 'valid' | 'unchecked' | 'expired' | 'unknown' | 'anonymous' | 'invalid'
  /** Milliseconds since the epoch; undefined if the credential has no expiry or it is unknown. */
  readonly expiresAt?: number
  /** Why the entry cannot be used, and how to fix it. */
  readonly problem?: { readonly message: string; readonly hint?: string }
}

/** Options of `inspectContexts`. */
export type InspectContextsOptions = Pick<ConnectOptions, 'kubeconfig' | 'env'>

/**
 * Lists every context of the kubeconfig with the source of its credential and when that expires.
 *
 * Reads files only: runs no plugin and sends nothing. A context that cannot be used has the state `invalid`.
 *
 * @throws {CredentialError} If the files cannot be read.
 *
 * @example
 * for (const { context, state, expiresAt } of await inspectContexts()) console.log(context, state, expiresAt)
 */
export async function inspectContexts({
  kubeconfig,
  env = hostEnvironment(),
}: InspectContextsOptions = {}): Promise<ContextSummary[]> {
  const { merged: config } = await readKubeconfigs({ kubeconfig, env })
  const names = [...config.contexts.keys()]
  const contexts: ContextSummary[] = []
  for (let at = 0; at < names.length; at += MAX_CONCURRENT) {
    const batch = names.slice(at, at + MAX_CONCURRENT)
    contexts.push(...(await Promise.all(batch.map((name) => inspect(config, name, process.cwd())))))
  }
  return contexts
}

/** More at once would only need more memory and open files. */
const MAX_CONCURRENT = 100

async function inspect(config: Kubeconfig, context: string, cwd: string): Promise<ContextSummary> {
  const isCurrent = config.currentContext === context
  let known: Pick<ContextSummary, 'server' | 'source'> = {}
  try {
    const { cluster, user } = buildConnection(config, { context }, buildContext(cwd, undefined))
    known = { server: cluster.server, source: sourceOf(user) }
    return { context, isCurrent, ...known, ...(await stateOf(user)) }
  } catch (error) {
    const hint = isCredentialError(error) ? { hint: error.hint } : {}
    const message = error instanceof Error ? error.message : String(error)
    return { context, isCurrent, ...known, state: 'invalid', problem: { message, ...hint } }
  }
}

const NEVER = new AbortController().signal
const PORTS = { crypto: nodeCrypto, files: nodeFiles, clock: systemClock }

function sourceOf(user: UserIdentity): SourceLabel {
  if (user.exec !== undefined) return { kind: 'exec', name: user.exec.command }
  if (user.oidc !== undefined) return { kind: 'oidc', name: user.oidc.issuer }
  const { externalSigner } = user
  if (externalSigner !== undefined) return { kind: 'signer', name: signerName(externalSigner) }
  return chooseSource(user, PORTS).label
}

async function stateOf(user: UserIdentity): Promise<Pick<ContextSummary, 'state' | 'expiresAt'>> {
  if (user.exec ?? user.oidc ?? user.externalSigner) return { state: 'unknown' }
  const { credential } = await chooseSource(user, PORTS).acquire({
    reason: 'first',
    signal: NEVER,
    report: () => {},
  })
  if (Object.keys(credential).length === 0) return { state: 'anonymous' }
  const expiries = [
    credential.certificate?.notAfter,
    credential.token && readClaims(credential.token.expose())?.expiresAt,
  ].filter((expiry) => expiry !== undefined)
  if (expiries.length === 0) return { state: 'unchecked' }
  const expiresAt = Math.min(...expiries)
  return { state: expiresAt > systemClock.now() ? 'valid' : 'expired', expiresAt }
}
