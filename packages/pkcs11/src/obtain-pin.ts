import type { Prompt } from 'kubecred/signer'
import { CKR_MESSAGES } from './ckr-messages.ts'
import {
  CKF_PROTECTED_AUTHENTICATION_PATH,
  CKF_USER_PIN_COUNT_LOW,
  CKF_USER_PIN_FINAL_TRY,
  CKF_USER_PIN_LOCKED,
} from './cryptoki.ts'
import { Pin } from './pin.ts'
import type { PinSettings } from './pin-settings.ts'
import { type Environment, readStoredPin } from './read-stored-pin.ts'
import { TokenError } from './token-error.ts'
import { describeToken, type Token } from './tokens.ts'

/** What obtaining a PIN may use: the environment, and the user at the terminal. */
export interface Access {
  readonly environment: Environment
  readonly ask: Prompt
  /** Shows the user a message. */
  readonly notify: (text: string) => Promise<void>
}

/**
 * Reads the PIN of a token from where the settings say, or asks the user for it.
 *
 * The PIN's length is checked against the token's limits before it costs a try. A stored PIN is never used for the last
 * try: a program that is restarted in a loop would lock the token.
 *
 * @param wasRejected Whether the token has rejected the stored PIN in this process: then it is not tried again.
 * @throws {TokenError} The token is locked, or there is no PIN that may be tried.
 */
export async function obtainPin(
  token: Token,
  settings: PinSettings,
  { environment, ask, notify }: Access,
  wasRejected: boolean,
): Promise<Pin> {
  const name = describeToken(token)
  if ((token.flags & CKF_USER_PIN_LOCKED) !== 0) {
    throw new TokenError(`token ${name} is locked after too many wrong PINs`, {
      hint: CKR_MESSAGES['CKR_PIN_LOCKED']?.hint ?? '',
    })
  }
  if ((token.flags & CKF_PROTECTED_AUTHENTICATION_PATH) !== 0) {
    await notify(`Enter the PIN of token ${name} on the device${describeTries(token)}`)
    return new Pin('', 'device')
  }
  const stored = readStoredPin(settings, environment)
  if (stored !== undefined) checkStoredPin(token, stored, wasRejected)
  const pin =
    stored ??
    new Pin(await askFor(`PIN of token ${name}${describeTries(token)}: `, settings, ask), 'typed')
  checkLength(pin, token)
  return pin
}

/** Asks the user. Without a terminal, the error says where else the PIN can come from. */
async function askFor(question: string, { env }: PinSettings, ask: Prompt): Promise<string> {
  try {
    return await ask(question, { secret: true })
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    if (code !== 'ERR_SIGNER_FAILED') throw error
    throw new TokenError(`the token needs a PIN: ${message}`, {
      hint: `Run the client in a terminal, put the PIN into the variable ${env}, or into a file and set pinFile in the kubeconfig.`,
      cause: error,
    })
  }
}

function checkStoredPin(token: Token, stored: Pin, wasRejected: boolean): void {
  const isLast = (token.flags & CKF_USER_PIN_FINAL_TRY) !== 0
  if (!isLast && !wasRejected) return
  stored.wipe()
  const what = isLast
    ? `token ${describeToken(token)} has one try left, which is not used for a stored PIN (${ORIGINS[stored.from]})`
    : `the PIN ${ORIGINS[stored.from]} was rejected before and is not tried again`
  throw new TokenError(what, {
    hint: 'Check the stored PIN, then try it in a terminal: kubecred-pkcs11 list --login',
  })
}

/** Where a PIN is from, as messages put it. */
export const ORIGINS: Readonly<Record<Pin['from'], string>> = {
  typed: 'that was typed',
  configuration: 'from the kubeconfig',
  file: 'from the file',
  environment: 'from the environment',
  device: 'that was entered on the device',
}

/** Tokens do not report the number of tries, only that few are left. */
function describeTries({ flags }: Token): string {
  if ((flags & CKF_USER_PIN_FINAL_TRY) !== 0) return ' (LAST TRY before the token locks)'
  if ((flags & CKF_USER_PIN_COUNT_LOW) !== 0) return ' (a wrong PIN was entered; few tries left)'
  return ''
}

function checkLength(pin: Pin, { minPinLength, maxPinLength }: Token): void {
  const { length } = pin
  // Some libraries report zero as the limits.
  const isTooLong = maxPinLength > 0 && length > maxPinLength
  if (length > 0 && length >= minPinLength && !isTooLong) return
  pin.wipe()
  const limits =
    maxPinLength > 0 ? `${minPinLength} to ${maxPinLength}` : `at least ${minPinLength}`
  const what =
    length === 0 ? 'no PIN was entered' : `the PIN ${ORIGINS[pin.from]} has a wrong length`
  throw new TokenError(`${what}: the token takes ${limits} bytes`, {
    hint: 'Try again with the complete PIN; this did not count as a try.',
  })
}
