import { facts } from './code-facts.ts'

/** Codes 95 to 99: what the machine has no more of. */
export const SYSTEM_CODES = {
  ERR_SYSTEM_EXHAUSTED: facts(
    95,
    'system',
    'retryable',
    'This machine, or a limit for this process, has no more open files, disk space or memory.',
    'Raise the limit (ulimit -n), free some space or memory, and try again.',
  ),
} as const
