import { describeUnexpected, type UnexpectedError } from '../errors/index.ts'
import type { Secret } from '../secret/secret.ts'
import type { Access } from './access.ts'

/**
 * Reports an error that is no `CredentialError` to the observers, without the secrets that are held.
 *
 * @param secrets Further ones.
 */
export function reportUnexpected(
  access: Pick<Access, 'report' | 'secrets'>,
  error: unknown,
  secrets: readonly Secret[] = [],
): UnexpectedError {
  const described = describeUnexpected(error, [...access.secrets, ...secrets])
  access.report({ type: 'unexpected-error', ...described })
  return described
}
