import type { Pkcs11Uri } from './pkcs11-uri.ts'
import { TokenError } from './token-error.ts'

/** Where to read the PIN, in order of precedence. If none of these has it, the user is asked. */
export interface PinSettings {
  readonly value?: string | undefined
  readonly file?: string | undefined
  /** The name of an environment variable. */
  readonly env: string
}

/** Prefix of every variable that may hold a PIN: a kubeconfig must not make the signer read any other. */
export const PIN_VARIABLE = 'KUBECRED_PKCS11_PIN'

/**
 * Reads the PIN settings from the configuration and its URI.
 *
 * @throws {TokenError} The PIN is empty, or its variable or file has an invalid name.
 */
export function readPinSettings(
  configuration: Readonly<Record<string, string>>,
  uri: Pkcs11Uri,
): PinSettings {
  const { pin, pinFile, pinEnv = PIN_VARIABLE } = configuration
  if (!/^[A-Z0-9_]+$/.test(pinEnv) || !pinEnv.startsWith(PIN_VARIABLE)) {
    throw new TokenError(`pinEnv names a variable that does not begin with ${PIN_VARIABLE}`, {
      hint: `Name the variable ${PIN_VARIABLE}, or ${PIN_VARIABLE}_ and a suffix in capitals.`,
    })
  }
  const value = pin ?? uri.pinValue
  if (value === '') {
    throw new TokenError('the PIN in the configuration is empty', {
      hint: 'Remove pin, and enter the PIN at the terminal or set pinFile or pinEnv.',
    })
  }
  return { value, file: pinFile ?? readSource(uri.pinSource), env: pinEnv }
}

function readSource(source: string | undefined): string | undefined {
  if (source === undefined) return undefined
  const path = source.replace(/^file:(?:\/\/(?=\/))?/, '')
  if (path.startsWith('/')) return path
  throw new TokenError('pin-source of the uri is not a file', {
    hint: 'Write pin-source=file:/path/to/file; other sources are not supported.',
  })
}
