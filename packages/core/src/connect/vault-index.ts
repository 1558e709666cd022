export { LoginError, type LoginOutcome, LoginToolError } from '../errors/index.ts'
export type { SignatureScheme, SigningKey, SigningRequest } from '../protocol/signing-key.ts'
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
export type { ReadableKubeConfig } from './kube-config/readable-kube-config.ts'
export { type ClientNodeLoginOptions, loginViaClientNode } from './login-via-client-node.ts'
export { type KubectlLoginOptions, loginViaKubectl } from './login-via-kubectl.ts'
export {
  type KubeconfigLoginOptions,
  loginWithKubeconfig,
  loginWithPodCertificate,
  loginWithServiceAccount,
  type PodCertificateLoginOptions,
  type ServiceAccountLoginOptions,
} from './logins.ts'
export type {
  ReadyMadeContext,
  ReadyMadeLogin,
  ReadyMadeOptions,
} from './ready-made-login.ts'
export { Vault, type VaultOptions } from './vault.ts'
