import type { Prompt } from 'kubecred/signer'
import { CKR_WORDS } from './ckr-words.ts'
import {
  CKF_PROTECTED_AUTHENTICATION_PATH,
  CKF_USER_PIN_COUNT_LOW,
  CKF_USER_PIN_FINAL_TRY,
  CKF_USER_PIN_LOCKED,
} from './cryptoki.ts'
import { Pin } from './pin.ts'
import type { PinWish } from './pin-wish.ts'
import { type Environment, readStoredPin } from './read-stored-pin.ts'
import { TokenError } from './token-error.ts'
import { describeToken, type Token } from './tokens.ts'

/** The person who waits, and what the environment holds. */
export interface Access {
  readonly environment: Environment
  readonly ask: Prompt
  /** Tells what to do. */
  readonly tell: (text: string) => Promise<void>
}

/**
 * Gets the PIN of a token from where the configuration says, or from the person at the terminal.
 *
 * It is checked against what the token says about PINs before it costs a try. A PIN that is stored somewhere never gets the
 * last try: a program that starts again and again would lock the token.
 *
 * @param wasRefused Whether this process has seen the stored PIN refused: then it is not tried again.
 */
export async function obtainPin(
  token: Token,
  wish: PinWish,
  { environment, ask, tell }: Access,
  wasRefused: boolean,
): Promise<Pin> {
  const name = describeToken(token)
  if ((token.flags & CKF_USER_PIN_LOCKED) !== 0) {
    throw new TokenError(`token ${name} is locked after too many wrong PINs`, {
      hint: CKR_WORDS['CKR_PIN_LOCKED']?.remedy ?? '',
    })
  }
  if ((token.flags & CKF_PROTECTED_AUTHENTICATION_PATH) !== 0) {
    await tell(`Enter the PIN of token ${name} on the device${describeTries(token)}`)
    return new Pin('', 'device')
  }
  const stored = readStoredPin(wish, environment)
  if (stored !== undefined) refuseRisk(token, stored, wasRefused)
  const pin =
    stored ??
    new Pin(await askFor(`PIN of token ${name}${describeTries(token)}: `, wish, ask), 'typed')
  checkLength(pin, token)
  return pin
}

/** Where nobody can be asked, it says where the PIN can stand instead. */
async function askFor(question: string, { env }: PinWish, ask: Prompt): Promise<string> {
  try {
    return await ask(question, { secret: true })
  } catch (error) {
    const { message } = error as Error
    if (!/cannot prompt/.test(message)) throw error
    throw new TokenError(`the token needs a PIN: ${message}`, {
      hint: `Run the client in a terminal, put the PIN into the variable ${env}, or into a file that pinFile in the kubeconfig names.`,
      cause: error,
    })
  }
}

function refuseRisk(token: Token, stored: Pin, wasRefused: boolean): void {
  const isLast = (token.flags & CKF_USER_PIN_FINAL_TRY) !== 0
  if (!isLast && !wasRefused) return
  stored.wipe()
  const what = isLast
    ? `token ${describeToken(token)} has one try left, and a stored PIN (${ORIGINS[stored.from]}) does not get it`
    : `the PIN ${ORIGINS[stored.from]} was refused before and is not tried again`
  throw new TokenError(what, {
    hint: 'Check the stored PIN. To try by hand: kubecred-pkcs11 list --login, in a terminal.',
  })
}

/** Where a stored PIN is from, for messages. */
export const ORIGINS: Readonly<Record<Pin['from'], string>> = {
  typed: 'that was typed',
  configuration: 'from the kubeconfig',
  file: 'from the file',
  environment: 'from the environment',
  device: 'that was entered on the device',
}

/** Tokens do not tell the number of tries, only that there are few. */
function describeTries({ flags }: Token): string {
  if ((flags & CKF_USER_PIN_FINAL_TRY) !== 0) return ' (LAST TRY before it locks itself)'
  if ((flags & CKF_USER_PIN_COUNT_LOW) !== 0) return ' (a wrong PIN was entered; few tries left)'
  return ''
}

function checkLength(pin: Pin, { shortestPin, longestPin }: Token): void {
  const { length } = pin
  // Some libraries leave the limits at zero.
  const isTooLong = longestPin > 0 && length > longestPin
  if (length > 0 && length >= shortestPin && !isTooLong) return
  pin.wipe()
  const limits = longestPin > 0 ? `${shortestPin} to ${longestPin}` : `at least ${shortestPin}`
  const what = length === 0 ? 'no PIN was given' : `the PIN ${ORIGINS[pin.from]} cannot be right`
  throw new TokenError(`${what}: the token takes ${limits} bytes`, {
    hint: 'Try again with the whole PIN; this did not cost a try.',
  })
}
