import { facts } from './code-facts.ts'

/** Codes 82 to 89: login handlers and what they return. */
export const LOGIN_CODES = {
  ERR_LOGIN_FAILED: facts(
    82,
    'caller',
    'retryable',
    'No login handler gave a credential that works: all their logins have ended, or the time limit of the request has passed.',
    'Read what each handler said; the next request asks them again, not before nextTryAt.',
  ),
  ERR_CONNECTION_INFO: facts(
    83,
    'caller',
    'final',
    'What a login handler returned cannot be used.',
    'Correct the fields that the message names.',
  ),
  ERR_LOGIN_QUEUE_FULL: facts(
    84,
    'caller',
    'retryable',
    'As many requests wait for a login as may wait at once.',
    'Send fewer requests while nobody is logged in, or raise queueLimit of the vault.',
  ),
  ERR_LOGIN_TOOL: facts(
    85,
    'caller',
    'retryable',
    'The program or library that a ready-made login asks, kubectl or @kubernetes/client-node, cannot be used or gave nothing that can be read.',
    'Run it by hand to see what it says, or log in without it.',
  ),
} as const
