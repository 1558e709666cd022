// Everything that is not needed if the agent has the credential. It is bundled into a separate file.

export { failedAnswer } from '../agent/failed-answer.ts'
export { findAllowedPlugin } from '../agent/plugin-policy.ts'
export { encodeOutcome, runAtTerminal, runWithoutAgent } from '../agent/run-plugin.ts'
export { withFlagNames } from '../render/with-flag-names.ts'
