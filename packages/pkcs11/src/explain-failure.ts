import { CKR_MESSAGES } from './ckr-messages.ts'
import { TokenError } from './token-error.ts'

const VENDOR_DEFINED = 0x80000000

/**
 * Turns an error of Cryptoki into a {@link TokenError}: `cannot …: the PIN is wrong (CKR_PIN_INCORRECT)`, with a hint.
 *
 * Returns any other error unchanged.
 *
 * @param action What failed; it follows "cannot" in the message.
 */
export function explainFailure(error: unknown, action: string): unknown {
  const code = ckrOf(error)
  if (code === undefined) return error
  const known = Object.entries(CKR_MESSAGES).find(([, each]) => each.code === code)
  const [name, message] = known ?? ['CKR_VENDOR_DEFINED', CKR_MESSAGES['CKR_VENDOR_DEFINED']]
  const shown = known === undefined ? `0x${(code >>> 0).toString(16)}` : name
  const reason = known === undefined && code < VENDOR_DEFINED ? 'unknown error' : message?.reason
  return new TokenError(`cannot ${action}: ${reason} (${shown})`, {
    hint: message?.hint ?? '',
    cause: error,
    ckr: code,
  })
}

/** Returns the CKR number of an error: one of the native module, or one that was explained already. */
export function ckrOf(error: unknown): number | undefined {
  if (error instanceof TokenError) return error.ckr
  const { name, code } = Object(error) as { name?: unknown; code?: unknown }
  return name === 'Pkcs11Error' && typeof code === 'number' ? code : undefined
}

/** Runs `work`, which calls the library, and throws its error explained. */
export function explained<T>(action: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw explainFailure(error, action)
  }
}
