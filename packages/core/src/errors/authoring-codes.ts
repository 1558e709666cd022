import { facts } from './code-facts.ts'

/** Codes from 90: what the kits for authors of plugins and signers say. */
export const AUTHORING_CODES = {
  ERR_EXEC_INFO: facts(
    90,
    'caller',
    'final',
    'A plugin was started without KUBERNETES_EXEC_INFO, or with one it cannot use.',
    'Let a Kubernetes client start the plugin, or set KUBERNETES_EXEC_INFO as a client would.',
  ),
  ERR_SIGN_REQUEST: facts(
    91,
    'caller',
    'final',
    'A signer was started without a request, or was sent one it cannot read.',
    'Let a Kubernetes client start the signer: name it in pathExec of the auth-provider externalSigner.',
  ),
} as const
