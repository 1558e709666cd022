import { facts } from './code-facts.ts'

/** Codes 52 to 59: signers, which hold the private key, and the handshakes they sign. */
export const SIGNER_CODES = {
  ERR_SIGNER_CONFIG: facts(
    52,
    'caller',
    'final',
    'The auth-provider externalSigner of the user entry cannot work as it is written.',
    'Correct the fields that the message names.',
  ),
  ERR_SIGNER_ANSWER: facts(
    53,
    'plugin',
    'final',
    'A signer answered with something that is no answer to what it was asked.',
    'Update the signer, or report it to its author; the message says what was expected.',
  ),
  ERR_SIGNER_CERTIFICATE: facts(
    54,
    'plugin',
    'final',
    'The certificate of a signer cannot be used.',
    'Put a valid certificate for the key beside it, in the device or where the signer looks for it.',
  ),
  ERR_SIGNER_FAILED: facts(
    55,
    'plugin',
    'retryable',
    'A signer could not do what it was asked.',
    'Read what the signer said; check that its device is plugged in and unlocked.',
  ),
  ERR_SIGNER_SOCKET: facts(
    56,
    'caller',
    'final',
    'The unix socket of a signer may not be used as it is.',
    'Let the socket and its folder belong to you, closed to everybody else, and start the signer.',
  ),
  ERR_SIGNATURE_WRONG: facts(
    57,
    'plugin',
    'final',
    'A signature does not fit the certificate it was made for.',
    'Check that the certificate belongs to the key that signs.',
  ),
  ERR_SIGNED_TOO_LATE: facts(
    58,
    'server',
    'retryable',
    'The server closed the connection while it waited for a signature.',
    'Try again and confirm sooner: an API server waits for about half a minute.',
  ),
  ERR_HANDSHAKE_NOT_SIGNED: facts(
    59,
    'server',
    'final',
    'The TLS handshake went another way than a signing key can follow, so nothing was signed.',
    'Let the server speak TLS 1.3 and accept a signature that the key can make.',
  ),
} as const
