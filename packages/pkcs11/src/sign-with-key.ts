import type { SignatureScheme } from 'kubecred/signer'
import { CKR_MESSAGES } from './ckr-messages.ts'
import { CKA_MODULUS, CKU_CONTEXT_SPECIFIC } from './cryptoki.ts'
import { ckrOf, explained, explainFailure } from './explain-failure.ts'
import type { FoundKey } from './find-key.ts'
import { readAttribute, type Session } from './objects.ts'
import type { Pin } from './pin.ts'
import { type SigningMethod, signingMethods } from './signing-methods.ts'
import { describeToken, type Token } from './tokens.ts'

/** One signature to make. */
export interface SignRequest extends Session {
  readonly token: Token
  readonly key: FoundKey
  /** Set for a key that requires it for every signature. */
  readonly pin: Pin | undefined
  readonly scheme: SignatureScheme
  readonly digest: Uint8Array
  readonly notify: (text: string) => Promise<void>
}

/** A signature of an 8192-bit RSA key. */
const MAX_SIGNATURE_BYTES = 1024
/** A device that takes longer probably waits for a touch. */
const SLOW_MS = 700

/**
 * Makes a signature in the token.
 *
 * @throws {TokenError} The token cannot make such a signature, or failed to.
 */
export async function signWithKey(request: SignRequest): Promise<Uint8Array> {
  const { cryptoki, handle, token, key, pin, digest } = request
  const action = `sign with token ${describeToken(token)}`
  const method = beginSigning(request, action)
  if (key.isAlwaysAuthenticated && pin !== undefined) {
    if (pin.from === 'device') {
      await request.notify(`Enter the PIN of token ${describeToken(token)} on the device`)
    }
    explained(action, () => cryptoki.C_Login(handle, CKU_CONTEXT_SPECIFIC, pin.expose()))
  }
  const slow = setTimeout(() => {
    // A notice that cannot be shown must not fail the signature.
    void request
      .notify(`Waiting for token ${describeToken(token)}: touch it if it blinks`)
      .catch(() => {})
  }, SLOW_MS)
  try {
    const into = Buffer.alloc(MAX_SIGNATURE_BYTES)
    // Runs on another thread, so signals and prompts still work meanwhile.
    return method.finish(await cryptoki.C_SignAsync(handle, method.prepare(digest), into))
  } catch (error) {
    throw explainFailure(error, action)
  } finally {
    clearTimeout(slow)
  }
}

const MECHANISM_REJECTED: readonly (number | undefined)[] = [
  CKR_MESSAGES['CKR_MECHANISM_INVALID']?.code,
  CKR_MESSAGES['CKR_MECHANISM_PARAM_INVALID']?.code,
]

/** Tries the methods in turn: some tokens list a mechanism that they do not support for this key. */
function beginSigning(
  { cryptoki, handle, token, key, scheme }: SignRequest,
  action: string,
): SigningMethod {
  const modulus = readAttribute({ cryptoki, handle }, key.handle, CKA_MODULUS)
  const methods = signingMethods(scheme, key.kind, {
    mechanisms: explained(action, () => cryptoki.C_GetMechanismList(token.slot)),
    modulusBits: bitsOf(modulus),
  })
  let failure: unknown
  for (const method of methods) {
    try {
      cryptoki.C_SignInit(handle, method.mechanism, key.handle)
      return method
    } catch (error) {
      failure = error
      if (!MECHANISM_REJECTED.includes(ckrOf(error))) break
    }
  }
  throw explainFailure(failure, action)
}

function bitsOf(modulus: Buffer | undefined): number {
  const first = modulus?.findIndex((byte) => byte !== 0) ?? -1
  if (modulus === undefined || first === -1) return 0
  return 8 * (modulus.length - first) - Math.clz32(modulus[first] ?? 0) + 24
}
