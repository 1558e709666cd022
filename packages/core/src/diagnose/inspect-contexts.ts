import process from 'node:process'
import type { ConnectOptions } from '../connect/connect-options.ts'
import { isCredentialError } from '../errors/index.ts'
import { buildConnection } from '../kubeconfig/build-connection.ts'
import type { UserIdentity } from '../kubeconfig/connection.ts'
import { signerName } from '../kubeconfig/external-signer-config.ts'
import type { Kubeconfig } from '../kubeconfig/kubeconfig.ts'
import { hostEnvironment } from '../node/environment.ts'
import { readKubeconfigs, surroundings } from '../node/load-kubeconfig.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { nodeFiles } from '../node/node-files.ts'
import { systemClock } from '../node/system-clock.ts'
import type { SourceLabel } from '../ports/observer.ts'
import { chooseSource } from '../sources/choose-source.ts'
import { readClaims } from './finding.ts'

/** What a context says about its credential, without running or asking anything. Plain data, no secrets. */
export interface ContextSummary {
  readonly context: string
  readonly isCurrent: boolean
  readonly server?: string
  readonly source?: SourceLabel
  /** `unknown` is what only a plugin, an issuer or a signer can tell. */
  readonly state: 'valid' | 'expired' | 'unknown' | 'anonymous' | 'broken'
  /** Milliseconds since the epoch; undefined when it has no end, or nobody knows. */
  readonly expiresAt?: number
  /** Why it is broken, and what to do. */
  readonly problem?: { readonly message: string; readonly hint?: string }
}

export type InspectContextsOptions = Pick<ConnectOptions, 'kubeconfig' | 'env'>

/**
 * Looks at every context of the kubeconfig: where its credential comes from, and how long it lasts.
 *
 * Reads files; runs no plugin and sends nothing.
 *
 * @throws {CredentialError} When the files cannot be read.
 */
export async function survey({
  kubeconfig,
  env = hostEnvironment(),
}: InspectContextsOptions = {}): Promise<ContextSummary[]> {
  const { merged: config } = await readKubeconfigs({ kubeconfig, env })
  const names = [...config.contexts.keys()]
  const surveyed: ContextSummary[] = []
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE)
    const seen = await Promise.all(some.map((name) => look(config, name, process.cwd())))
    surveyed.push(...seen)
  }
  return surveyed
}

/** More at once would only need more memory, and more open files. */
const AT_ONCE = 100

async function look(config: Kubeconfig, context: string, cwd: string): Promise<ContextSummary> {
  const isCurrent = config.currentContext === context
  let seen: Pick<ContextSummary, 'server' | 'source'> = {}
  try {
    const { cluster, user } = buildConnection(config, { context }, surroundings(cwd, undefined))
    seen = { server: cluster.server, source: sourceOf(user) }
    return { context, isCurrent, ...seen, ...(await stateOf(user)) }
  } catch (error) {
    const hint = isCredentialError(error) ? { hint: error.hint } : {}
    const message = error instanceof Error ? error.message : String(error)
    return { context, isCurrent, ...seen, state: 'broken', problem: { message, ...hint } }
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
  const ends = [
    credential.certificate?.notAfter,
    credential.token && readClaims(credential.token.expose())?.expiresAt,
  ].filter((end) => end !== undefined)
  if (ends.length === 0) return { state: 'valid' }
  const expiresAt = Math.min(...ends)
  return { state: expiresAt > systemClock.now() ? 'valid' : 'expired', expiresAt }
}
