export { LoginError, type LoginOutcome } from '../errors/index.ts'
export type { ConnectionFields } from '../vault/connection-fields.ts'
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
export type { VaultStatus } from '../vault/login-vault.ts'
export {
  type KubeconfigLoginOptions,
  loginWithKubeconfig,
  loginWithServiceAccount,
  type ServiceAccountLoginOptions,
} from './logins.ts'
export { Vault, type VaultOptions } from './vault.ts'
