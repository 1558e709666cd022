// Everything that is not needed when the agent answers at once. It stays outside of the bundled file.

export { describeFailed } from '../agent/describe-failed.ts'
export { judgePlugin } from '../agent/plugin-policy.ts'
export { encodeOutcome, runAtTerminal, runHere } from '../agent/run-here.ts'
export { programWords } from '../render/program-words.ts'
