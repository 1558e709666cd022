import { realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute } from 'node:path'
import { p11KitModules } from './p11-kit-modules.ts'
import type { Environment } from './read-stored-pin.ts'
import { isSystemPath } from './system-path.ts'
import { TokenError } from './token-error.ts'

/** The variable with further libraries that may be loaded: absolute paths, separated as in PATH. */
export const MODULES_VARIABLE = 'KUBECRED_PKCS11_MODULES'

/**
 * Checks that a library may be loaded. Loading runs its code, so a kubeconfig from elsewhere must not name any file.
 *
 * Allowed are libraries that p11-kit knows, libraries in places that only root can write, and libraries that the user
 * has named in the environment.
 *
 * @returns The real path. Load that one: a link could change meanwhile.
 * @throws {TokenError} The library does not exist or is not allowed; the hint has the line that allows it.
 */
export function allowLibrary(path: string, environment: Environment): string {
  const real = findLibrary(path)
  const isAllowed =
    isSystemPath(real) ||
    [...namedModules(environment), ...p11KitModules()].some((each) => realPathOf(each) === real)
  if (isAllowed) return real
  const shown = real === path ? '' : ` (${real})`
  throw new TokenError(`the library ${path}${shown} is not allowed`, {
    hint: `If you trust it, allow it: export ${MODULES_VARIABLE}=${quoteForShell(real)}`,
  })
}

/** Lists the libraries that the user has named in the environment. */
export function namedModules(environment: Environment): string[] {
  const named = (environment[MODULES_VARIABLE] ?? '').split(delimiter)
  return named.filter((path) => isAbsolute(path))
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

function findLibrary(path: string): string {
  let real: string
  try {
    real = realpathSync(path)
  } catch (cause) {
    throw new TokenError(`the library ${JSON.stringify(path)} does not exist`, {
      hint: 'Correct pathLib, or install the library; kubecred-pkcs11 list shows the installed ones.',
      cause,
    })
  }
  if (statSync(real).isFile()) return real
  throw new TokenError(`the library ${JSON.stringify(path)} is not a file`, {
    hint: 'Set pathLib to the library itself, a file that ends with .so, .dylib or .dll.',
  })
}

function quoteForShell(text: string): string {
  return /^[\w./+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
