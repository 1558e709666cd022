export type { SignatureScheme, SigningKey, SigningRequest } from '../credential/signing-key.ts'
export { LoginError, type LoginOutcome, LoginToolError } from '../errors/index.ts'
export { type ClientNodeLoginOptions, loginViaClientNode } from '../logins/client-node.ts'
export type { ReadableKubeConfig } from '../logins/kube-config-object.ts'
export {
  type KubeconfigLoginOptions,
  loginWithKubeconfig,
  loginWithPodCertificate,
  loginWithServiceAccount,
  type PodCertificateLoginOptions,
  type ServiceAccountLoginOptions,
} from '../logins/kubeconfig.ts'
export { type KubectlLoginOptions, loginViaKubectl } from '../logins/kubectl.ts'
export type {
  ReadyMadeContext,
  ReadyMadeLogin,
  ReadyMadeOptions,
} from '../logins/ready-made-login.ts'
export type { ConnectionFields, GivenSigningKey } from '../vault/connection-fields.ts'
export { ConnectionInfo } from '../vault/connection-info.ts'
export {
  type LoginContext,
  type LoginHandler,
  type LoginLogger,
  type LoginOptions,
  type LoginReason,
  PermanentError,
  type RefusedLogin,
  TemporaryError,
} from '../vault/login-handler.ts'
export type { LoginStatus, VaultStatus } from '../vault/vault-status.ts'
export { Vault, type VaultOptions } from './vault.ts'
