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
 * Loads a PKCS#11 library and initialises it.
 *
 * @param path Must have passed `allowLibrary`: loading a library runs its code.
 * @throws {TokenError} The library cannot be loaded or initialised, or pkcs11js is missing.
 */
export async function loadLibrary(path: string): Promise<Cryptoki> {
  const { PKCS11 } = await importNative()
  const cryptoki = new PKCS11()
  try {
    cryptoki.load(path)
  } catch (cause) {
    const reason = (cause as Error).message.replace(`${path}: `, '')
    const isOtherLibrary = reason.includes('C_GetFunctionList')
    throw new TokenError(
      `the library ${path} cannot be loaded: ${isOtherLibrary ? 'it is not a PKCS#11 library' : reason}`,
      { hint: 'Set pathLib to the PKCS#11 library of the device.', cause },
    )
  }
  try {
    initialize(cryptoki)
  } catch (error) {
    throw explainFailure(error, `initialise the library ${path}`)
  }
  return cryptoki
}

/** Initialises a library again. This ends all sessions. */
export function restartLibrary(cryptoki: Cryptoki): void {
  try {
    cryptoki.C_Finalize()
    initialize(cryptoki)
  } catch (error) {
    throw explainFailure(error, 'initialise the library again')
  }
}

interface Native {
  readonly PKCS11: new () => Cryptoki
}

/** Typed as a string, so that the compiler does not look for the module: it is optional. */
const NATIVE_MODULE: string = 'pkcs11js'

/** Imports pkcs11js. It is compiled on installation, so it is missing where that failed or is not allowed. */
async function importNative(): Promise<Native> {
  try {
    const loaded = (await import(NATIVE_MODULE)) as Native & { default?: Native }
    return loaded.default ?? loaded
  } catch (cause) {
    throw new TokenError(
      'the native module pkcs11js, which is needed to load PKCS#11 libraries, is missing',
      {
        hint: 'Install a C++ compiler, make and python3, then run: npm rebuild pkcs11js (with npm 12, first add "allowScripts": { "pkcs11js": true } to package.json).',
        cause,
      },
    )
  }
}

/** Signatures are made on another thread, so the library must lock. One that cannot is used by one call at a time anyway. */
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
