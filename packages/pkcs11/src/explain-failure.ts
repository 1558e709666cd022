import { CKR_WORDS } from './ckr-words.ts'
import { TokenError } from './token-error.ts'

const VENDOR_DEFINED = 0x80000000

/**
 * Says why something could not be done: `cannot …: the PIN is wrong (CKR_PIN_INCORRECT)`, and what to do.
 *
 * What is no error of Cryptoki comes back as it is.
 *
 * @param doing Continues "cannot".
 */
export function explainFailure(error: unknown, doing: string): unknown {
  const code = ckrOf(error)
  if (code === undefined) return error
  const known = Object.entries(CKR_WORDS).find(([, each]) => each.code === code)
  const [name, words] = known ?? ['CKR_VENDOR_DEFINED', CKR_WORDS['CKR_VENDOR_DEFINED']]
  const shown = known === undefined ? `0x${(code >>> 0).toString(16)}` : name
  const means = known === undefined && code < VENDOR_DEFINED ? 'of an unknown reason' : words?.means
  return new TokenError(`cannot ${doing}: ${means} (${shown})`, {
    hint: words?.remedy ?? '',
    cause: error,
    ckr: code,
  })
}

/** The number of a Cryptoki error: the native module's own, or one that was explained already. */
export function ckrOf(error: unknown): number | undefined {
  if (error instanceof TokenError) return error.ckr
  const { name, code } = Object(error) as { name?: unknown; code?: unknown }
  return name === 'Pkcs11Error' && typeof code === 'number' ? code : undefined
}

/** Runs something that asks the library, and explains its failure. */
export function explained<T>(doing: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw explainFailure(error, doing)
  }
}
