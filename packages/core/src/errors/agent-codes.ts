import { facts } from './code-facts.ts'

/** Codes from 93: the agent that keeps credentials for other programs. */
export const AGENT_CODES = {
  ERR_AGENT_UNUSABLE: facts(
    93,
    'caller',
    'retryable',
    'The agent cannot be reached safely: its folder is not ours alone, or it does not start or answer.',
    'Correct the folder that the message names, or set KUBECRED_AGENT=off to do without the agent.',
  ),
  ERR_AGENT_LOCKED: facts(
    94,
    'caller',
    'final',
    'Somebody locked the agent: it has forgotten all credentials and gives none.',
    'Run kubecred agent start to unlock it.',
  ),
} as const
