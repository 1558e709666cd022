export type { SignatureScheme, SigningKey, SigningRequest } from '../credential/signing-key.ts'
export { LoginError, type LoginOutcome } from '../errors/index.ts'
export type { ConnectionFields, SigningKeyInput } from './connection-fields.ts'
export { ConnectionInfo } from './connection-info.ts'
export {
  type LoginContext,
  type LoginHandler,
  type LoginLogger,
  type LoginOptions,
  type LoginReason,
  PermanentError,
  type RefusedLogin,
  TemporaryError,
} from './login-handler.ts'
export { Vault, type VaultOptions } from './vault.ts'
export type { LoginStatus, VaultStatus } from './vault-status.ts'
