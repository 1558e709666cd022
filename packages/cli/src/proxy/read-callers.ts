import type { FlagValues } from '../flags/flag-values.ts'
import { UsageError } from '../usage-error.ts'

/** How callers that send their own tokens are treated. */
export interface CallerSettings {
  /** The audiences of which a token must have one; empty for those of the API server. */
  readonly audiences: readonly string[]
  /** User names of the callers that may use the proxy; undefined for all. */
  readonly accepted: readonly string[] | undefined
  readonly isImpersonating: boolean
}

const SERVICE_ACCOUNT = /^([a-z0-9-]+)\/(\*|[a-z0-9.-]+)$/
const OTHERS = ['accept-callers', 'caller-audiences', 'impersonate-callers'] as const

/**
 * Reads the flags about callers. Returns undefined if callers do not authenticate with their own tokens.
 *
 * @throws {UsageError} If they contradict each other.
 */
export function readCallers(flags: FlagValues): CallerSettings | undefined {
  if (flags.isOn('authenticate-callers') !== true) {
    const other = OTHERS.find((name) => flags.text(name) !== undefined)
    if (other === undefined) return undefined
    throw new UsageError(`--${other} needs --authenticate-callers`)
  }
  if (flags.text('secret-file') !== undefined) {
    throw new UsageError('--authenticate-callers and --secret-file cannot be combined')
  }
  const isImpersonating = flags.isOn('impersonate-callers') === true
  const accepted = flags.text('accept-callers')?.split(',').map(readAccount)
  if (accepted === undefined && !isImpersonating) {
    throw new UsageError(
      '--authenticate-callers needs --impersonate-callers, or --accept-callers with the service accounts that may use the rights of the proxy',
    )
  }
  const audiences = flags.text('caller-audiences')?.split(',').filter(Boolean) ?? []
  return { audiences, accepted, isImpersonating }
}

/** Returns the user name of a service account, or of all in a namespace. */
function readAccount(text: string): string {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(text.trim()) ?? []
  if (name !== undefined) return `system:serviceaccount:${namespace}:${name}`
  throw new UsageError(
    `flag --accept-callers takes service accounts such as shop/web, or shop/* for a whole namespace, separated by commas, not ${JSON.stringify(text)}`,
  )
}
