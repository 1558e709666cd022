export { LoginToolFailedError } from '../errors/index.ts'
export { type ClientNodeLoginOptions, loginViaClientNode } from './client-node.ts'
export type { ReadableKubeConfig } from './kube-config-object.ts'
export {
  type KubeconfigLoginOptions,
  loginWithKubeconfig,
  loginWithPodCertificate,
  loginWithServiceAccount,
  type PodCertificateLoginOptions,
  type ServiceAccountLoginOptions,
} from './kubeconfig.ts'
export { type KubectlLoginOptions, loginViaKubectl } from './kubectl.ts'
export type {
  LoginMethod,
  LoginMethodContext,
  LoginMethodOptions,
} from './login-method.ts'
