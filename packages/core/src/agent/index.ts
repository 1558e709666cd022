export { hostEnvironment } from '../node/host-environment.ts'
export type { RunOutcome } from '../ports/programs.ts'
export { forPlugins } from '../protocol/private-variables.ts'
export { type AccountFacts, accountFacts } from './account-files.ts'
export { type AskListener, askAgent, type LastAnswer } from './ask-agent.ts'
export { credentialAnswer } from './credential-text.ts'
export { describeFailed } from './describe-failed.ts'
export { joinExecInfo, type PassedInfo, splitExecInfo } from './exec-info-text.ts'
export { type FoundPlugin, findPlugin } from './find-plugin.ts'
export { clientEnvironment, policyFiles } from './host-policy.ts'
export { judgePlugin } from './judge-plugin.ts'
export { NOISE } from './noise.ts'
export { type AgentPlace, agentPlace, checkSocket } from './place.ts'
export { isRunning, nameProcess } from './process-name.ts'
export { encodeOutcome, type RunHereOptions, runAtTerminal, runHere } from './run-here.ts'
export { type ServedAgent, type ServeOptions, serveAgent } from './serve-agent.ts'
export { spotPlugin } from './spot-plugin.ts'
export { takeStartLock } from './start-lock.ts'
export type {
  AgentStatus,
  Answer,
  DepositedOutcome,
  EntryStatus,
  Failed,
  GetRequest,
  PlainRequest,
  ProcessName,
} from './wire.ts'
export { applyWrap, type Wrapped } from './wrap-apply.ts'
export { isWrapped, planUnwrap, planWrap, type WrapOptions, type WrapPlan } from './wrap-plan.ts'
export { type WrappedContext, wrappedContexts } from './wrapped-contexts.ts'
