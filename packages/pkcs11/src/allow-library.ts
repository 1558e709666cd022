import { realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute } from 'node:path'
import { p11KitModules } from './p11-kit-modules.ts'
import type { Environment } from './read-stored-pin.ts'
import { isSystemPath } from './system-path.ts'
import { TokenError } from './token-error.ts'

/** Names libraries that may be loaded although they are somewhere else: absolute paths with colons between them. */
export const MODULES_VARIABLE = 'KUBECRED_PKCS11_MODULES'

/**
 * Decides whether a library may be loaded, which runs its code: a kubeconfig that came by mail must not choose any file.
 *
 * Allowed are libraries that p11-kit knows, those that only root could have put where they are, and those that the
 * user has named in the environment.
 *
 * @returns The real path, which is what must be loaded: a link could change in between.
 * @throws {TokenError} With the line that allows it.
 */
export function allowLibrary(path: string, environment: Environment): string {
  const real = findLibrary(path)
  const isAllowed =
    isSystemPath(real) ||
    [...namedModules(environment), ...p11KitModules()].some((each) => realPathOf(each) === real)
  if (isAllowed) return real
  const shown = real === path ? '' : ` (it is ${real})`
  throw new TokenError(`the library ${path}${shown} may not be loaded`, {
    hint: `If you trust it, allow it: export ${MODULES_VARIABLE}=${quoteForShell(real)}`,
  })
}

/** The libraries that the user has named. */
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
    throw new TokenError(`there is no library ${JSON.stringify(path)}`, {
      hint: 'Correct pathLib, or install the library; kubecred-pkcs11 list shows those that are installed.',
      cause,
    })
  }
  if (statSync(real).isFile()) return real
  throw new TokenError(`the library ${JSON.stringify(path)} is no file`, {
    hint: 'Name the library itself in pathLib; its name ends with .so, .dylib or .dll.',
  })
}

function quoteForShell(text: string): string {
  return /^[\w./+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
