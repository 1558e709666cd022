import { SIGNER_ERROR_KIND } from '../../protocol/signer-wire.ts'
import { describeFailure } from '../describe-failure.ts'
import { line } from './answer-request.ts'
import { hideConfiguration } from './hide-configuration.ts'
import type { SignerConfiguration } from './sign-request.ts'

/** Says in the protocol why there is no answer: the message, then what to do where the error knows it. */
export function refusalLine(thrown: unknown, configuration: SignerConfiguration = {}): string {
  const words = describeFailure(thrown, { debug: false, what: 'signer' })
  // The client says who failed; the class of the error is for the author.
  const message = hideConfiguration(words, configuration).replace(/^[A-Za-z0-9_$]*: /, '')
  return line({ kind: SIGNER_ERROR_KIND, message: message.trim() })
}
