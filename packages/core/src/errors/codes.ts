import { AGENT_CODES } from './agent-errors.ts'
import type { CodeFacts } from './credential-error.ts'
import { KIT_CODES } from './kit-errors.ts'
import { KUBECONFIG_CODES } from './kubeconfig-errors.ts'
import { LOGIN_CODES } from './login-errors.ts'
import { OIDC_CODES } from './oidc-errors.ts'
import { PLUGIN_CODES } from './plugin-errors.ts'
import { SIGNER_CODES } from './signer-errors.ts'
import { SYSTEM_CODES } from './system-errors.ts'
import { TRANSPORT_CODES } from './transport-errors.ts'

/**
 * All error codes. They are public API: new codes may be added, none is ever renamed or reused.
 *
 * @example
 * const { exit, retryable } = CODES[error.code]
 */
export const CODES = {
  ...KUBECONFIG_CODES,
  ...PLUGIN_CODES,
  ...SIGNER_CODES,
  ...TRANSPORT_CODES,
  ...OIDC_CODES,
  ...LOGIN_CODES,
  ...KIT_CODES,
  ...AGENT_CODES,
  ...SYSTEM_CODES,
} as const satisfies Record<`ERR_${string}`, CodeFacts>

/** An error code, such as `ERR_PLUGIN_NOT_FOUND`. */
export type Code = keyof typeof CODES
