import type { SignatureScheme } from 'kubecred/signer'
import { allowLibrary } from './allow-library.ts'
import type { SignerSettings } from './configuration.ts'
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
import { describeObjectFilter, type Session } from './objects.ts'
import { type Access, obtainPin } from './obtain-pin.ts'
import type { Pin } from './pin.ts'
import type { Environment } from './read-stored-pin.ts'
import { signWithKey } from './sign-with-key.ts'
import { TokenError } from './token-error.ts'
import { chooseToken, describeToken, listTokens, readToken, type Token } from './tokens.ts'

/** The token was unplugged, or its session ended for another reason: a new session may work. */
const SESSION_LOST: readonly (number | undefined)[] = [
  CKR_DEVICE_REMOVED,
  CKR_KEY_HANDLE_INVALID,
  CKR_OBJECT_HANDLE_INVALID,
  CKR_SESSION_CLOSED,
  CKR_SESSION_HANDLE_INVALID,
  CKR_TOKEN_NOT_PRESENT,
  CKR_TOKEN_NOT_RECOGNIZED,
  CKR_USER_NOT_LOGGED_IN,
]

interface OpenSession extends Session {
  readonly token: Token
}

/** One user's token, kept open between requests so that the PIN is asked for only once. */
export class TokenSession {
  readonly #settings: SignerSettings
  readonly #cryptoki: Cryptoki
  #opened: OpenSession | undefined
  /** Known after the login. */
  #key: FoundKey | undefined
  /** Kept only for a key that requires it for every signature. */
  #pin: Pin | undefined
  #wasStoredPinRejected = false
  #isSigning = false
  /** Whether the library has just been initialised: then a restart would not find more tokens. */
  #isLibraryFresh = true

  private constructor(settings: SignerSettings, cryptoki: Cryptoki) {
    this.#settings = settings
    this.#cryptoki = cryptoki
  }

  /** Loads the library. The first request looks for the token. */
  static async open(settings: SignerSettings, environment: Environment): Promise<TokenSession> {
    return new TokenSession(
      settings,
      await loadLibrary(allowLibrary(settings.library, environment)),
    )
  }

  /** Returns the certificate. Logs in only if the certificate is not visible without a login. */
  async certificate(access: Access, now: number): Promise<FoundCertificate> {
    return await this.#withSession(async () => {
      const opened = this.#open()
      const { object } = this.#settings
      const found = findCertificate(opened, object, now)
      if (found !== undefined) return found
      if (needsLogin(opened.token) && this.#key === undefined) await this.#unlock(opened, access)
      const hidden = findCertificate(opened, object, now)
      if (hidden !== undefined) return hidden
      throw new TokenError(
        `token ${describeToken(opened.token)} has no certificate${describeObjectFilter(object)}`,
        {
          hint: 'Store the certificate with the id of its key: pkcs11-tool --write-object FILE --type cert --id ID',
        },
      )
    })
  }

  /** Logs in, so that the first signature does not wait for the user to enter the PIN. */
  async unlock(access: Access): Promise<void> {
    await this.#withSession(() => this.#unlock(this.#open(), access))
  }

  /** Signs a digest. Logs in if that has not happened yet. */
  async sign(scheme: SignatureScheme, digest: Uint8Array, access: Access): Promise<Uint8Array> {
    return await this.#withSession(async () => {
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
          notify: access.notify,
        })
      } catch (error) {
        if (this.#pin !== undefined && isAboutPin(error)) this.#discardPin(this.#pin)
        throw error
      } finally {
        this.#isSigning = false
      }
    })
  }

  /** Finalizes the library, unless it is signing: C_Finalize would block, so that is left to the exit of the process. */
  close(): void {
    this.#pin?.wipe()
    if (this.#isSigning) return
    try {
      this.#cryptoki.C_Finalize()
    } catch {
      // The library ends with the process in any case.
    }
  }

  #open(): OpenSession {
    if (this.#opened !== undefined) return this.#opened
    const token = this.#findToken()
    const handle = explained(`use token ${describeToken(token)}`, () =>
      this.#cryptoki.C_OpenSession(token.slot, CKF_SERIAL_SESSION),
    )
    this.#opened = { cryptoki: this.#cryptoki, handle, token }
    return this.#opened
  }

  #findToken(): Token {
    const find = (): Token => chooseToken(listTokens(this.#cryptoki), this.#settings.token)
    try {
      return find()
    } catch (error) {
      if (this.#isLibraryFresh) throw error
      // Some libraries see only tokens that were plugged in when they were initialised.
      restartLibrary(this.#cryptoki)
      return find()
    } finally {
      this.#isLibraryFresh = false
    }
  }

  async #unlock(opened: OpenSession, access: Access): Promise<FoundKey> {
    const { token } = opened
    const pin = needsLogin(token) ? await this.#logIn(opened, access) : undefined
    try {
      const key = findKey(opened, this.#settings.object, token)
      if (key === undefined) {
        throw new TokenError(
          `token ${describeToken(token)} has no private key${describeObjectFilter(this.#settings.object)}`,
          { hint: 'List the keys: kubecred-pkcs11 list --login' },
        )
      }
      if (key.isAlwaysAuthenticated) this.#pin = pin
      this.#key = key
      return key
    } finally {
      if (this.#pin !== pin) pin?.wipe()
    }
  }

  async #logIn(opened: OpenSession, access: Access): Promise<Pin> {
    const pin = await this.#obtainPin(opened, access)
    try {
      opened.cryptoki.C_Login(opened.handle, CKU_USER, pin.expose())
    } catch (error) {
      if (ckrOf(error) === CKR_USER_ALREADY_LOGGED_IN) return pin
      this.#discardPin(pin)
      throw explainFailure(error, `log in to token ${describeToken(opened.token)}`)
    }
    return pin
  }

  async #obtainPin({ token }: OpenSession, access: Access): Promise<Pin> {
    const current = explained(`use token ${describeToken(token)}`, () =>
      readToken(this.#cryptoki, token.slot),
    )
    return await obtainPin(current, this.#settings.pin, access, this.#wasStoredPinRejected)
  }

  /** Discards a rejected PIN, and the session: an operation that the PIN was for may still be active in it. */
  #discardPin(pin: Pin): void {
    this.#wasStoredPinRejected ||= pin.from !== 'typed' && pin.from !== 'device'
    pin.wipe()
    this.#closeSession()
  }

  #closeSession(): void {
    const { handle } = this.#opened ?? {}
    this.#opened = undefined
    this.#key = undefined
    this.#pin?.wipe()
    this.#pin = undefined
    try {
      if (handle !== undefined) this.#cryptoki.C_CloseSession(handle)
    } catch {
      // It was closed already.
    }
  }

  /** Runs `work`, and once more with a new session if the old one was lost. Never repeats it after a wrong PIN. */
  async #withSession<T>(work: () => Promise<T>): Promise<T> {
    const wasOpen = this.#opened !== undefined
    try {
      return await work()
    } catch (error) {
      if (!SESSION_LOST.includes(ckrOf(error))) throw error
      this.#closeSession()
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
