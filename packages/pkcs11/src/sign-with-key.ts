import type { SignatureScheme } from 'kubecred/signer'
import { CKR_WORDS } from './ckr-words.ts'
import { CKA_MODULUS, CKU_CONTEXT_SPECIFIC } from './cryptoki.ts'
import { ckrOf, explained, explainFailure } from './explain-failure.ts'
import type { FoundKey } from './find-key.ts'
import { type Way, waysToSign } from './mechanism.ts'
import { readAttribute, type Session } from './objects.ts'
import type { Pin } from './pin.ts'
import { describeToken, type Token } from './tokens.ts'

export interface Signing extends Session {
  readonly token: Token
  readonly key: FoundKey
  /** Given for a key that wants it every time. */
  readonly pin: Pin | undefined
  readonly scheme: SignatureScheme
  readonly digest: Uint8Array
  readonly tell: (text: string) => Promise<void>
}

/** Long enough for RSA with 8192 bits. */
const LONGEST_SIGNATURE = 1024
/** A device that takes longer probably waits for a person. */
const SLOW_MS = 700

/** Lets the token sign. */
export async function signWithKey(signing: Signing): Promise<Uint8Array> {
  const { cryptoki, handle, token, key, pin, digest } = signing
  const doing = `sign with token ${describeToken(token)}`
  const way = begin(signing, doing)
  if (key.isAlwaysAuthenticated && pin !== undefined) {
    if (pin.from === 'device') {
      await signing.tell(`Enter the PIN of token ${describeToken(token)} on the device`)
    }
    explained(doing, () => cryptoki.C_Login(handle, CKU_CONTEXT_SPECIFIC, pin.expose()))
  }
  const slow = setTimeout(() => {
    // Whether the person was reached makes no difference to the signature.
    void signing
      .tell(`Waiting for token ${describeToken(token)}: touch it if it blinks`)
      .catch(() => {})
  }, SLOW_MS)
  try {
    const into = Buffer.alloc(LONGEST_SIGNATURE)
    // On another thread: signals and prompts still work while the device thinks.
    return way.finish(await cryptoki.C_SignAsync(handle, way.prepare(digest), into))
  } catch (error) {
    throw explainFailure(error, doing)
  } finally {
    clearTimeout(slow)
  }
}

const NOT_THIS_WAY: readonly (number | undefined)[] = [
  CKR_WORDS['CKR_MECHANISM_INVALID']?.code,
  CKR_WORDS['CKR_MECHANISM_PARAM_INVALID']?.code,
]

/** Some tokens list a mechanism that they do not know for this key: then the next one may do. */
function begin({ cryptoki, handle, token, key, scheme }: Signing, doing: string): Way {
  const modulus = readAttribute({ cryptoki, handle }, key.handle, CKA_MODULUS)
  const ways = waysToSign(scheme, key.kind, {
    mechanisms: explained(doing, () => cryptoki.C_GetMechanismList(token.slot)),
    modulusBits: bitsOf(modulus),
  })
  let failure: unknown
  for (const way of ways) {
    try {
      cryptoki.C_SignInit(handle, way.mechanism, key.handle)
      return way
    } catch (error) {
      failure = error
      if (!NOT_THIS_WAY.includes(ckrOf(error))) break
    }
  }
  throw explainFailure(failure, doing)
}

function bitsOf(modulus: Buffer | undefined): number {
  const first = modulus?.findIndex((byte) => byte !== 0) ?? -1
  if (modulus === undefined || first === -1) return 0
  return 8 * (modulus.length - first) - Math.clz32(modulus[first] ?? 0) + 24
}
