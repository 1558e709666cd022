// Everything that is not needed when the agent answers at once. It stays outside of the bundled file.

export { describeFailed } from '../agent/failed-answer.ts'
export { judgePlugin } from '../agent/plugin-policy.ts'
export { encodeOutcome, runAtTerminal, runHere } from '../agent/run-plugin.ts'
export { withFlagNames } from '../render/with-flag-names.ts'
