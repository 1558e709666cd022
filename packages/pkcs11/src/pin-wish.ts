import type { Pkcs11Uri } from './pkcs11-uri.ts'
import { TokenError } from './token-error.ts'

/** Where the PIN may come from, best first. Without any, a person is asked. */
export interface PinWish {
  readonly value?: string | undefined
  readonly file?: string | undefined
  /** Name of a variable. */
  readonly env: string
}

/** Beginning of every variable that may hold a PIN: a kubeconfig must not make us read others. */
export const PIN_VARIABLE = 'KUBECRED_PKCS11_PIN'

/** Reads where the PIN may come from. */
export function readPinWish(
  configuration: Readonly<Record<string, string>>,
  uri: Pkcs11Uri,
): PinWish {
  const { pin, pinFile, pinEnv = PIN_VARIABLE } = configuration
  if (!/^[A-Z0-9_]+$/.test(pinEnv) || !pinEnv.startsWith(PIN_VARIABLE)) {
    throw new TokenError(`pinEnv names a variable that does not begin with ${PIN_VARIABLE}`, {
      hint: `Call it ${PIN_VARIABLE}, or ${PIN_VARIABLE}_ and something in capitals.`,
    })
  }
  const value = pin ?? uri.pinValue
  if (value === '') {
    throw new TokenError('the PIN in the configuration is empty', {
      hint: 'Leave pin out: then it is asked for, or read from pinFile or pinEnv.',
    })
  }
  return { value, file: pinFile ?? readSource(uri.pinSource), env: pinEnv }
}

function readSource(source: string | undefined): string | undefined {
  if (source === undefined) return undefined
  const path = source.replace(/^file:(?:\/\/(?=\/))?/, '')
  if (path.startsWith('/')) return path
  throw new TokenError('pin-source of the uri is no file', {
    hint: 'Write pin-source=file:/path/to/file; programs are not started from a kubeconfig.',
  })
}
