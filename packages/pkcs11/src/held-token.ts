import type { SignatureScheme } from 'kubecred/signer'
import { allowLibrary } from './allow-library.ts'
import type { Wish } from './configuration.ts'
import {
  CKF_LOGIN_REQUIRED,
  CKF_SERIAL_SESSION,
  CKR_DEVICE_REMOVED,
  CKR_KEY_HANDLE_INVALID,
  CKR_OBJECT_HANDLE_INVALID,
  CKR_SESSION_CLOSED,
  CKR_SESSION_HANDLE_INVALID,
  CKR_TOKEN_NOT_PRESENT,
  CKR_TOKEN_NOT_RECOGNIZED,
  CKR_USER_ALREADY_LOGGED_IN,
  CKR_USER_NOT_LOGGED_IN,
  CKU_USER,
  type Cryptoki,
} from './cryptoki.ts'
import { ckrOf, explained, explainFailure } from './explain-failure.ts'
import { type FoundCertificate, findCertificate } from './find-certificate.ts'
import { type FoundKey, findKey } from './find-key.ts'
import { loadLibrary, restartLibrary } from './load-library.ts'
import { describeObjectWish, type Session } from './objects.ts'
import { type Access, obtainPin } from './obtain-pin.ts'
import type { Pin } from './pin.ts'
import type { Environment } from './read-stored-pin.ts'
import { signWithKey } from './sign-with-key.ts'
import { TokenError } from './token-error.ts'
import { chooseToken, describeToken, listTokens, readToken, type Token } from './tokens.ts'

/** The token was pulled out, or its session ended for another reason: a new session may work. */
const GONE: readonly (number | undefined)[] = [
  CKR_DEVICE_REMOVED,
  CKR_KEY_HANDLE_INVALID,
  CKR_OBJECT_HANDLE_INVALID,
  CKR_SESSION_CLOSED,
  CKR_SESSION_HANDLE_INVALID,
  CKR_TOKEN_NOT_PRESENT,
  CKR_TOKEN_NOT_RECOGNIZED,
  CKR_USER_NOT_LOGGED_IN,
]

interface Opened extends Session {
  readonly token: Token
}

/** One user's token, kept open between requests, so that the PIN is asked for once. */
export class HeldToken {
  readonly #wish: Wish
  readonly #cryptoki: Cryptoki
  #opened: Opened | undefined
  /** Found once somebody is logged in. */
  #key: FoundKey | undefined
  /** Kept only while the key wants it for every signature. */
  #pin: Pin | undefined
  #wasRefused = false
  #isSigning = false
  /** Whether the library was started for this request. */
  #isFresh = true

  private constructor(wish: Wish, cryptoki: Cryptoki) {
    this.#wish = wish
    this.#cryptoki = cryptoki
  }

  /** Loads the library. The token is looked for by the first request. */
  static async open(wish: Wish, environment: Environment): Promise<HeldToken> {
    return new HeldToken(wish, await loadLibrary(allowLibrary(wish.library, environment)))
  }

  /** The certificate: without a PIN where the token shows it to everybody. */
  async certificate(access: Access, now: number): Promise<FoundCertificate> {
    return await this.#again(async () => {
      const opened = this.#open()
      const { object } = this.#wish
      const found = findCertificate(opened, object, now)
      if (found !== undefined) return found
      if (needsLogin(opened.token) && this.#key === undefined) await this.#unlock(opened, access)
      const hidden = findCertificate(opened, object, now)
      if (hidden !== undefined) return hidden
      throw new TokenError(
        `token ${describeToken(opened.token)} has no certificate${describeObjectWish(object)}`,
        {
          hint: 'Put the certificate beside its key, with the same id: pkcs11-tool --write-object FILE --type cert --id ID',
        },
      )
    })
  }

  /** Logs in, so that the first signature need not wait for a person. */
  async unlock(access: Access): Promise<void> {
    await this.#again(() => this.#unlock(this.#open(), access))
  }

  async sign(scheme: SignatureScheme, digest: Uint8Array, access: Access): Promise<Uint8Array> {
    return await this.#again(async () => {
      const opened = this.#open()
      const key = this.#key ?? (await this.#unlock(opened, access))
      if (key.isAlwaysAuthenticated) this.#pin ??= await this.#obtainPin(opened, access)
      this.#isSigning = true
      try {
        return await signWithKey({
          ...opened,
          key,
          pin: this.#pin,
          scheme,
          digest,
          tell: access.tell,
        })
      } catch (error) {
        if (this.#pin !== undefined && isAboutPin(error)) this.#forget(this.#pin)
        throw error
      } finally {
        this.#isSigning = false
      }
    })
  }

  /** Ends the session and the library. While a signature is made it would wait, so then it is left to the system. */
  close(): void {
    this.#pin?.wipe()
    if (this.#isSigning) return
    try {
      this.#cryptoki.C_Finalize()
    } catch {
      // It ends with the process in any case.
    }
  }

  #open(): Opened {
    if (this.#opened !== undefined) return this.#opened
    const token = this.#findToken()
    const handle = explained(`use token ${describeToken(token)}`, () =>
      this.#cryptoki.C_OpenSession(token.slot, CKF_SERIAL_SESSION),
    )
    this.#opened = { cryptoki: this.#cryptoki, handle, token }
    return this.#opened
  }

  #findToken(): Token {
    const find = (): Token => chooseToken(listTokens(this.#cryptoki), this.#wish.token)
    try {
      return find()
    } catch (error) {
      if (this.#isFresh) throw error
      // Some libraries see only the tokens that were there when they were started.
      restartLibrary(this.#cryptoki)
      return find()
    } finally {
      this.#isFresh = false
    }
  }

  async #unlock(opened: Opened, access: Access): Promise<FoundKey> {
    const { token } = opened
    const pin = needsLogin(token) ? await this.#logIn(opened, access) : undefined
    try {
      const key = findKey(opened, this.#wish.object, token)
      if (key === undefined) {
        throw new TokenError(
          `token ${describeToken(token)} has no private key${describeObjectWish(this.#wish.object)}`,
          { hint: 'See which keys there are: kubecred-pkcs11 list --login' },
        )
      }
      if (key.isAlwaysAuthenticated) this.#pin = pin
      this.#key = key
      return key
    } finally {
      if (this.#pin !== pin) pin?.wipe()
    }
  }

  async #logIn(opened: Opened, access: Access): Promise<Pin> {
    const pin = await this.#obtainPin(opened, access)
    try {
      opened.cryptoki.C_Login(opened.handle, CKU_USER, pin.expose())
    } catch (error) {
      if (ckrOf(error) === CKR_USER_ALREADY_LOGGED_IN) return pin
      this.#forget(pin)
      throw explainFailure(error, `log in to token ${describeToken(opened.token)}`)
    }
    return pin
  }

  async #obtainPin({ token }: Opened, access: Access): Promise<Pin> {
    const current = explained(`use token ${describeToken(token)}`, () =>
      readToken(this.#cryptoki, token.slot),
    )
    return await obtainPin(current, this.#wish.pin, access, this.#wasRefused)
  }

  /** A PIN that was refused is not kept. The session goes with it: the operation it was for may still be open. */
  #forget(pin: Pin): void {
    this.#wasRefused ||= pin.from !== 'typed' && pin.from !== 'device'
    pin.wipe()
    this.#drop()
  }

  #drop(): void {
    const { handle } = this.#opened ?? {}
    this.#opened = undefined
    this.#key = undefined
    this.#pin?.wipe()
    this.#pin = undefined
    try {
      if (handle !== undefined) this.#cryptoki.C_CloseSession(handle)
    } catch {
      // It was gone already.
    }
  }

  /** Begins once more with a new session when an old one turns out to be gone. Never after a wrong PIN. */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    const wasOpen = this.#opened !== undefined
    try {
      return await work()
    } catch (error) {
      if (!GONE.includes(ckrOf(error))) throw error
      this.#drop()
      if (!wasOpen) throw error
      return await work()
    }
  }
}

function needsLogin({ flags }: Token): boolean {
  return (flags & CKF_LOGIN_REQUIRED) !== 0
}

/** CKR_PIN_INCORRECT to CKR_PIN_LOCKED. */
function isAboutPin(error: unknown): boolean {
  const code = ckrOf(error) ?? 0
  return code >= 0xa0 && code <= 0xa4
}
