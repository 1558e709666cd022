import { type CodeFacts, CredentialError, facts } from './credential-error.ts'

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

abstract class AgentFamilyError<C extends keyof typeof AGENT_CODES> extends CredentialError<C> {
  protected override get facts(): CodeFacts {
    return AGENT_CODES[this.code]
  }
}

/** The agent cannot be reached, or not safely. */
export class AgentUnusableError extends AgentFamilyError<'ERR_AGENT_UNUSABLE'> {
  readonly code = 'ERR_AGENT_UNUSABLE' as const
}

/** The agent was told to give nothing to anybody. */
export class AgentLockedError extends AgentFamilyError<'ERR_AGENT_LOCKED'> {
  readonly code = 'ERR_AGENT_LOCKED' as const
}
