export type { Proxied, ProxiedRequest } from './api/proxy.ts'
export type { IssuedToken, TokenOptions } from './authentication/tokens.ts'
export type { UserInfo } from './authentication/user-info.ts'
export type { CertificateOptions, IssuedCertificate } from './certificates/client-certificates.ts'
export { SERVER_NAME } from './certificates/server-certificate.ts'
export type {
  KubeconfigAuthProvider,
  KubeconfigExec,
  KubeconfigOptions,
  KubeconfigUser,
} from './kubeconfig/kubeconfig-options.ts'
export type { PluginCommand, PluginOptions } from './plugin/plugin-options.ts'
export type { Sandbox } from './sandbox.ts'
export type { SandboxOptions } from './sandbox-options.ts'
export type { Forbid } from './server/authorize.ts'
export type { ConnectionCounts } from './server/connections.ts'
export type { RequestFacts, Responder } from './server/handle.ts'
export type { RestartOptions } from './server/listener.ts'
export type { HttpVersion, RequestRecord } from './server/request-log.ts'
export type { Answer } from './server/send.ts'
export { startSandbox } from './start-sandbox.ts'
