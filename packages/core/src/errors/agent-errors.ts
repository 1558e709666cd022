import { type CodeFacts, CredentialError, facts } from './credential-error.ts'

/** Codes 93 and 94: the agent that keeps credentials for other programs. */
export const AGENT_CODES = {
  ERR_AGENT_UNUSABLE: facts(
    93,
    'caller',
    'retryable',
    'The agent is not available: its directory is not private to this user, or it does not start or respond.',
    'Correct the directory named in the message, or set KUBECRED_AGENT=off to run without the agent.',
  ),
  ERR_AGENT_LOCKED: facts(
    94,
    'caller',
    'final',
    'The agent is locked: it has discarded all credentials and returns none.',
    'Run kubecred agent start to unlock it.',
  ),
} as const

abstract class AgentFamilyError<C extends keyof typeof AGENT_CODES> extends CredentialError<C> {
  protected override codeFacts(): CodeFacts {
    return AGENT_CODES[this.code]
  }
}

/** The agent cannot be reached, or its socket is not safe to use. */
export class AgentUnusableError extends AgentFamilyError<'ERR_AGENT_UNUSABLE'> {
  static readonly code = 'ERR_AGENT_UNUSABLE'
}

/** The agent is locked and returns no credential. */
export class AgentLockedError extends AgentFamilyError<'ERR_AGENT_LOCKED'> {
  static readonly code = 'ERR_AGENT_LOCKED'
}
