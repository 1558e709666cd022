export { type DiagnoseOptions, diagnose } from './diagnose.ts'
export { type Finding, STEPS, type Step } from './finding.ts'
export {
  type ContextSummary,
  type InspectContextsOptions,
  inspectContexts,
} from './inspect-contexts.ts'
