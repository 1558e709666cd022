import { facts } from './code-facts.ts'

/** Codes 80 to 89: the issuer of OpenID Connect tokens. */
export const OIDC_CODES = {
  ERR_OIDC_REFUSED: facts(
    80,
    'server',
    'final',
    'The OpenID Connect issuer answered, but gave no token that can be used.',
    'Log in again, so that the kubeconfig gets a new refresh token.',
  ),
  ERR_OIDC_UNREACHABLE: facts(
    81,
    'network',
    'retryable',
    'The OpenID Connect issuer could not be reached, or could not answer for now.',
    'Check idp-issuer-url in the kubeconfig, and your network or VPN.',
  ),
} as const
