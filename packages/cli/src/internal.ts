// For our own packages only. Not covered by semantic versioning: anything here may change in any release.
export { type Environment, identifyProcess, isRunning, pidNamespace } from 'kubecred/internal'
export { parseDuration } from './flags/duration.ts'
export { type IdentityHandle, LiveState } from './page/live-state.ts'
export { type StartedPage, startPage } from './page/start-page.ts'
export { choosePalette, type Palette } from './render/colour.ts'
export { printable, printableLine } from './render/printable.ts'
export { wrapText } from './render/wrap-text.ts'
export { UsageError } from './usage-error.ts'
