import {
  CKF_OS_LOCKING_OK,
  CKR_ARGUMENTS_BAD,
  CKR_CANT_LOCK,
  CKR_CRYPTOKI_ALREADY_INITIALIZED,
  type Cryptoki,
} from './cryptoki.ts'
import { ckrOf, explainFailure } from './explain-failure.ts'
import { TokenError } from './token-error.ts'

/**
 * Loads a PKCS#11 library and starts it.
 *
 * @param path Allowed before: loading runs its code.
 * @throws {TokenError}
 */
export async function loadLibrary(path: string): Promise<Cryptoki> {
  const { PKCS11 } = await importNative()
  const cryptoki = new PKCS11()
  try {
    cryptoki.load(path)
  } catch (cause) {
    const reason = (cause as Error).message.replace(`${path}: `, '')
    const isOther = reason.includes('C_GetFunctionList')
    throw new TokenError(
      `the library ${path} cannot be loaded: ${isOther ? 'it is no PKCS#11 library' : reason}`,
      { hint: 'Name the PKCS#11 library of the device in pathLib.', cause },
    )
  }
  try {
    initialize(cryptoki)
  } catch (error) {
    throw explainFailure(error, `start the library ${path}`)
  }
  return cryptoki
}

/** Starts a library once more. All sessions end. */
export function restartLibrary(cryptoki: Cryptoki): void {
  try {
    cryptoki.C_Finalize()
    initialize(cryptoki)
  } catch (error) {
    throw explainFailure(error, 'start the library again')
  }
}

interface Native {
  readonly PKCS11: new () => Cryptoki
}

/** Typed as a string, so that the compiler does not look for the module: it is optional. */
const NATIVE_MODULE: string = 'pkcs11js'

/** It is compiled when it is installed, and some systems have no compiler or forbid it. */
async function importNative(): Promise<Native> {
  try {
    const loaded = (await import(NATIVE_MODULE)) as Native & { default?: Native }
    return loaded.default ?? loaded
  } catch (cause) {
    throw new TokenError(
      'the native module pkcs11js, which talks to PKCS#11 libraries, is missing',
      {
        hint: 'Install a C++ compiler, make and python3, then run: npm rebuild pkcs11js (with npm 12, first put "allowScripts": { "pkcs11js": true } into package.json).',
        cause,
      },
    )
  }
}

/** Signatures are made on another thread, so the library has to lock; those that cannot are called by one at a time. */
function initialize(cryptoki: Cryptoki): void {
  try {
    cryptoki.C_Initialize({ flags: CKF_OS_LOCKING_OK })
  } catch (error) {
    const code = ckrOf(error)
    if (code === CKR_CRYPTOKI_ALREADY_INITIALIZED) return
    if (code !== CKR_CANT_LOCK && code !== CKR_ARGUMENTS_BAD) throw error
    cryptoki.C_Initialize()
  }
}
