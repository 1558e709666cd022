import { AGENT_CODES } from './agent-codes.ts'
import { AUTHORING_CODES } from './authoring-codes.ts'
import type { CodeFacts } from './code-facts.ts'
import { KUBECONFIG_CODES } from './kubeconfig-codes.ts'
import { LOGIN_CODES } from './login-codes.ts'
import { OIDC_CODES } from './oidc-codes.ts'
import { PLUGIN_CODES } from './plugin-codes.ts'
import { SIGNER_CODES } from './signer-codes.ts'
import { SYSTEM_CODES } from './system-codes.ts'
import { TRANSPORT_CODES } from './transport-codes.ts'

/** Stable codes. They are public API: new ones may appear, none is ever renamed or reused. */
export const CODES = {
  ...KUBECONFIG_CODES,
  ...PLUGIN_CODES,
  ...SIGNER_CODES,
  ...TRANSPORT_CODES,
  ...OIDC_CODES,
  ...LOGIN_CODES,
  ...AUTHORING_CODES,
  ...AGENT_CODES,
  ...SYSTEM_CODES,
} as const satisfies Record<`ERR_${string}`, CodeFacts>

export type Code = keyof typeof CODES
