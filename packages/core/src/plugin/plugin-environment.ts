import type { Environment } from '../formats/plain-object.ts'
import {
  SIGNER_FD_VARIABLE,
  SIGNER_MESSAGE_VARIABLE,
  SIGNER_REQUEST_VARIABLE,
} from '../signer/signer-protocol.ts'

/** All names that begin with this hold a PIN: one for all tokens, and one for each. */
const PIN_PREFIX = 'KUBECRED_PKCS11_PIN'

const REQUEST: readonly string[] = [
  SIGNER_REQUEST_VARIABLE,
  SIGNER_MESSAGE_VARIABLE,
  SIGNER_FD_VARIABLE,
]

/** Whether a variable holds a PIN, which no program but a signer may see. */
export function isPinVariable(name: string): boolean {
  // Windows does not tell upper case from lower case.
  return name.toUpperCase().startsWith(PIN_PREFIX)
}

/** Whether a variable is part of a request to a signer, which only the signer it was made for may see. */
function isRequestVariable(name: string): boolean {
  return REQUEST.includes(name.toUpperCase())
}

/**
 * The variables of this process that a program may see which is no signer.
 *
 * What is meant for signers is removed, also where a list of names allows it: we may be a signer's child
 * ourselves, and a PIN is nobody's business but the device's.
 *
 * @param allowed Names that may be seen; all when undefined.
 */
export function pluginEnvironment(
  host: Environment,
  allowed?: readonly string[],
): Record<string, string> {
  return pick(host, allowed, (name) => !isPinVariable(name) && !isRequestVariable(name))
}

/** The same for a signer: with PINs, without the request that somebody else was sent. */
export function forSigners(host: Environment, allowed?: readonly string[]): Record<string, string> {
  return pick(host, allowed, (name) => !isRequestVariable(name))
}

function pick(
  host: Environment,
  allowed: readonly string[] | undefined,
  mayPass: (name: string) => boolean,
): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const [name, value] of Object.entries(host)) {
    if (value === undefined || !mayPass(name) || allowed?.includes(name) === false) continue
    picked[name] = value
  }
  return picked
}

/** Families of variables of the dynamic loaders of Linux, the BSDs and macOS, and functions for bash. */
const PREFIXES = /^(?:LD_|DYLD_|BASH_FUNC_)/
/** Variables that make a runtime or a shell load code before the program that was started. */
const NAMES = new Set([
  'BASH_ENV',
  'GCONV_PATH',
  'NODE_OPTIONS',
  'NODE_PATH',
  'PYTHONHOME',
  'PYTHONPATH',
  'PYTHONSTARTUP',
  'PERL5DB',
  'PERL5LIB',
  'PERL5OPT',
  'RUBYLIB',
  'RUBYOPT',
  'JAVA_TOOL_OPTIONS',
  'JDK_JAVA_OPTIONS',
  '_JAVA_OPTIONS',
  'CLASSPATH',
  'DOTNET_STARTUP_HOOKS',
])

/**
 * Whether a variable can load code into whatever program gets it.
 *
 * With such a variable, the name of an executable says nothing any more about the code that runs.
 */
export function isLoaderVariable(name: string): boolean {
  // Windows does not tell upper case from lower case.
  const upper = name.toUpperCase()
  return PREFIXES.test(upper) || NAMES.has(upper)
}
