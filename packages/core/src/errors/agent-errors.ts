import { CredentialError } from './credential-error.ts'

/** The agent cannot be reached, or not safely. */
export class AgentUnusableError extends CredentialError<'ERR_AGENT_UNUSABLE'> {
  readonly code = 'ERR_AGENT_UNUSABLE' as const
}

/** The agent was told to give nothing to anybody. */
export class AgentLockedError extends CredentialError<'ERR_AGENT_LOCKED'> {
  readonly code = 'ERR_AGENT_LOCKED' as const
}
