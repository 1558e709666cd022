export type { ApiVersion } from '../../kubeconfig/exec-config.ts'
export { Secret } from '../../secret/secret.ts'
export type { PluginCluster, PluginInfo } from '../exec-info.ts'
export { type ClusterFetch, clusterFetch } from './cluster-fetch.ts'
export {
  type ClientNodeOptions,
  type ClusterOptions,
  clientNodeOptions,
  connectOptions,
  type ExecInfoOptions,
  execInfo,
} from './cluster-options.ts'
export { encodeExecCredential, type PluginCredential } from './encode-exec-credential.ts'
export type { Prompt, PromptOptions } from './prompt.ts'
export { readExecInfo } from './read-exec-info.ts'
export { type PluginContext, type PluginFunction, runPlugin } from './run-plugin.ts'
