export { type DiagnoseOptions, diagnose } from './diagnose.ts'
export { type Finding, STEPS, type Step } from './finding.ts'
export { type Surveyed, type SurveyOptions, survey } from './survey.ts'
