// For our own packages only. It has no version: anything here may change with every release.
export { parseDuration } from './flags/duration.ts'
export { LiveState, type ShownIdentity } from './page/live-state.ts'
export { type StartedPage, startPage } from './page/start-page.ts'
export { choosePalette, type Palette } from './render/colour.ts'
export { printable, printableLine } from './render/printable.ts'
export { wrap } from './render/wrap.ts'
export { processSpace } from './run/process-folder.ts'
export { UsageError } from './usage-error.ts'
