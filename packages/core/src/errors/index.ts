import type * as agent from './agent-errors.ts'
import type * as authoring from './kit-errors.ts'
import type * as kubeconfig from './kubeconfig-errors.ts'
import type * as login from './login-errors.ts'
import type * as oidc from './oidc-errors.ts'
import type * as plugin from './plugin-errors.ts'
import type * as signer from './signer-errors.ts'
import type * as system from './system-errors.ts'
import type * as transport from './transport-errors.ts'

export { AgentLockedError, AgentUnusableError } from './agent-errors.ts'
export { CODES, type Code } from './codes.ts'
export type { CodeFacts, Fault } from './credential-error.ts'
export { CredentialError, type ErrorInit, isCredentialError } from './credential-error.ts'
export { ExecInfoError, SignRequestError } from './kit-errors.ts'
export {
  AuthProviderRemovedError,
  CertificateInvalidError,
  ClusterNotFoundError,
  ContextNotFoundError,
  FileUnreadableError,
  KubeconfigEmptyError,
  KubeconfigInvalidError,
  KubeconfigNotFoundError,
  KubeconfigSyntaxError,
  KubeconfigUnreadableError,
  NotSupportedError,
  OidcConfigError,
  UserNotFoundError,
} from './kubeconfig-errors.ts'
export { describeNeededLogin } from './login-command.ts'
export {
  ConnectionInfoError,
  LoginError,
  type LoginOutcome,
  LoginQueueFullError,
  LoginToolFailedError,
} from './login-errors.ts'
export { OidcRefusedError, OidcUnreachableError } from './oidc-errors.ts'
export {
  PluginCertificateError,
  PluginDeniedError,
  PluginEnvironmentError,
  PluginExecFormatError,
  PluginExitedError,
  PluginInputTooLargeError,
  PluginKilledError,
  PluginNeedsTerminalError,
  PluginNoOutputError,
  PluginNotExecutableError,
  PluginNotFoundError,
  PluginNotStartedError,
  PluginOutputInvalidError,
  PluginOutputTooLargeError,
  type PluginRunFacts,
  PluginSyntaxError,
  PluginTimedOutError,
  PluginVersionError,
  PolicyInvalidError,
} from './plugin-errors.ts'
export {
  HandshakeNotSignedError,
  SignatureInvalidError,
  SignedTooLateError,
  SignerCertificateError,
  SignerConfigError,
  SignerFailedError,
  SignerResponseInvalidError,
  SignerSocketError,
} from './signer-errors.ts'
export {
  exhaustedError,
  LoginShellError,
  NoPrivateFolderError,
  SystemExhaustedError,
} from './system-errors.ts'
export {
  CertificateRefusedError,
  ClosedError,
  ConnectionRetiredError,
  ForeignOriginError,
  PeerMissingError,
  ProxyFailedError,
  ServerResponseInvalidError,
  ServerUnreachableError,
  ServerUntrustedError,
  TimedOutError,
  TokenReviewError,
  TooManyStreamsError,
  UpgradeRefusedError,
} from './transport-errors.ts'
export { describeUnexpected, type UnexpectedError } from './unexpected-error.ts'

type Instances<M> = {
  [K in keyof M]: M[K] extends abstract new (...args: never[]) => infer E ? E : never
}[keyof M]

/** The union of all concrete errors, so that `switch (error.code)` narrows to the right class. */
export type AnyCredentialError =
  | Instances<typeof agent>
  | Instances<typeof authoring>
  | Instances<typeof kubeconfig>
  | Instances<typeof login>
  | Instances<typeof oidc>
  | Instances<typeof plugin>
  | Instances<typeof signer>
  | Instances<typeof system>
  | Instances<typeof transport>
