export { type DiagnoseOptions, diagnose } from './diagnose.ts'
export { type Finding, STEPS, type Step } from './finding.ts'
export {
  type ContextSummary,
  type InspectContextsOptions,
  inspectContexts as survey,
} from './inspect-contexts.ts'
