import type { Environment } from '../formats/plain-object.ts'
import {
  SIGNER_FD_VARIABLE,
  SIGNER_MESSAGE_VARIABLE,
  SIGNER_REQUEST_VARIABLE,
} from '../signer/signer-protocol.ts'

/** Variables with this prefix hold a PIN: one for all tokens, or one per token. */
const PIN_PREFIX = 'KUBECRED_PKCS11_PIN'

const REQUEST: readonly string[] = [
  SIGNER_REQUEST_VARIABLE,
  SIGNER_MESSAGE_VARIABLE,
  SIGNER_FD_VARIABLE,
]

/** Whether a variable holds a PIN, which only signers may see. */
export function isPinVariable(name: string): boolean {
  // Variable names are case-insensitive on Windows.
  return name.toUpperCase().startsWith(PIN_PREFIX)
}

/** Whether a variable is part of a request to a signer, which only that signer may see. */
function isRequestVariable(name: string): boolean {
  return REQUEST.includes(name.toUpperCase())
}

/**
 * Returns the host variables to pass to a program that is not a signer.
 *
 * PINs and requests to signers are removed even if `allowed` names them. A request can be in the environment because
 * this process may be the child of a signer.
 *
 * @param allowed Names to pass; all by default.
 */
export function pluginEnvironment(
  host: Environment,
  allowed?: readonly string[],
): Record<string, string> {
  return pick(host, allowed, (name) => !isPinVariable(name) && !isRequestVariable(name))
}

/** Returns the host variables to pass to a signer: with PINs, without a request made to another signer. */
export function signerEnvironment(
  host: Environment,
  allowed?: readonly string[],
): Record<string, string> {
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

/** Variables of the dynamic loaders of Linux, the BSDs and macOS, and exported bash functions. */
const PREFIXES = /^(?:LD_|DYLD_|BASH_FUNC_)/
/** Variables that make a runtime or a shell load code before the program itself. */
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
 * Whether a variable can make a program load other code.
 *
 * With such a variable, the path of an executable no longer determines the code that runs.
 */
export function isLoaderVariable(name: string): boolean {
  // Variable names are case-insensitive on Windows.
  const upper = name.toUpperCase()
  return PREFIXES.test(upper) || NAMES.has(upper)
}
