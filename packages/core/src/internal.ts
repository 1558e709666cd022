// For our own packages only. Not covered by semantic versioning: anything here may change in any release.
export type { Credential } from './credential/credential.ts'
export { type ExecContext, execContexts } from './diagnose/exec-contexts.ts'
export {
  AgentLockedError,
  AgentUnusableError,
  ContextNotFoundError,
  describeNeededLogin,
  ExecInfoError,
  exhaustedError,
  NotSupportedError,
  ServerResponseInvalidError,
  ServerUnreachableError,
  TimedOutError,
  UserNotFoundError,
} from './errors/index.ts'
export { closestName } from './errors/option-names.ts'
export { editYaml, editYamlList } from './formats/edit-yaml.ts'
export { encodeJson, parseJson } from './formats/json.ts'
export { type Environment, type Fields, isFields } from './formats/plain-object.ts'
export { formatRfc3339 } from './formats/rfc3339.ts'
export { Keeper } from './keeper/keeper.ts'
export type { Lease } from './keeper/lease.ts'
export type { KeeperStatus } from './keeper/status.ts'
export type { ApiVersion, ExecConfig } from './kubeconfig/exec-config.ts'
export {
  CLUSTER_FIELDS,
  type Field,
  type FieldTable,
  type OptionsOf,
  USER_FIELDS,
} from './kubeconfig/fields.ts'
export type { ExecEntry, Kubeconfig, UserEntry } from './kubeconfig/kubeconfig.ts'
export { parseKubeconfigText } from './kubeconfig/parse-kubeconfig.ts'
export { killTree } from './node/end-process-tree.ts'
export { hostEnvironment, systemName, withSystemNames } from './node/environment.ts'
export { homeFolder, readKubeconfigs, readRegularKubeconfig } from './node/load-kubeconfig.ts'
export { findKuberc, loadPluginPolicy } from './node/load-plugin-policy.ts'
export { nodeCrypto } from './node/node-crypto.ts'
export { nodeFiles } from './node/node-files.ts'
export { findExecutable, nodePrograms, searchPath } from './node/node-programs.ts'
export { folderFault, ownerFault, parentFault } from './node/private-folder.ts'
export { makeProcessFolder, type ProcessFolder, pidNamespace } from './node/process-folder.ts'
export { identifyProcess, isRunning, type ProcessId } from './node/process-id.ts'
export { startProgram } from './node/spawn-program.ts'
export { systemClock } from './node/system-clock.ts'
export { replaceFile, withLocks } from './node/write-kubeconfig.ts'
export { decodeExecInfo } from './plugin/exec-info.ts'
export { pluginEnvironment } from './plugin/plugin-environment.ts'
export { ALLOW_ALL } from './plugin/plugin-policy.ts'
export type { Clock } from './ports/clock.ts'
export type { Located, Programs, RunOutcome, RunRequest } from './ports/programs.ts'
export { type LocalAccess, openLocalAccess } from './register/local-access.ts'
export { KEEP_SIGNER, logIn } from './register/log-in.ts'
export { rehearse } from './register/rehearse.ts'
export { type PlainResponse, sendPlain } from './request/send-plain.ts'
export { scrub } from './secret/scrub.ts'
export { type ExecLimits, execSource, showArgs } from './sources/exec-source.ts'
export { findAllowedProgram } from './sources/find-allowed-program.ts'
export type { Acquired, Report, Source } from './sources/source.ts'
