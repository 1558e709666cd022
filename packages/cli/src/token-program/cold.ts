// Everything that is not needed when the agent answers at once. It stays outside of the bundled file.

export { describeFailed, encodeOutcome, judgePlugin, runAtTerminal, runHere } from 'kubecred/agent'
export { programWords } from '../render/program-words.ts'
