// Pure functions, so that they can be tested on every system.

/** cmd.exe ends or refuses longer lines. */
const MAX_LINE = 8191
/** Needs no quotes: batch files may compare `%1` with a plain word. */
const PLAIN = /^[\w./:@+\\-]*[\w./:@+-]$/
/** What quotes do not protect. */
const UNSAFE = /["%!\p{Cc}]/u

/**
 * Whether Windows would start cmd.exe for this file.
 *
 * Windows ignores dots and spaces at the end of a name, and what follows a colon names a stream of the same file.
 */
export function isBatchFile(path: string): boolean {
  return /\.(?:bat|cmd)[. ]*(?::[^\\/]*)?$/i.test(path)
}

/**
 * Returns the arguments of cmd.exe that run a batch file, to be passed verbatim.
 *
 * cmd.exe has no escape that holds for every batch file. A `%` or a `"` can be escaped for cmd.exe itself, but a batch
 * file that starts a second cmd.exe, uses `call` or enables delayed expansion, as some credential plugins do, interprets
 * `%`, `"` and `!` again. So arguments with these or with control characters are rejected; between quotes, everything
 * else is only text, however often it is interpreted.
 *
 * @throws {Error} With the code `ERR_UNSAFE_ARGUMENT`; the message has the position of the argument and not its value,
 *   which may be secret.
 */
export function batchArguments(path: string, args: readonly string[]): readonly string[] {
  reject(path, 'the path of the batch file')
  for (const [index, arg] of args.entries()) reject(arg, `argument ${index + 1}`)
  const line = [`"${path}"`, ...args.map(quoteArgument)].join(' ')
  if (line.length > MAX_LINE) {
    throw unsafe(`the path and arguments of a batch file have more than ${MAX_LINE} characters`)
  }
  // No AutoRun commands of the registry, no delayed expansion; /s removes the outer quotes and no others.
  return ['/d', '/v:off', '/s', '/c', `"${line}"`]
}

function reject(text: string, what: string): void {
  const [found] = UNSAFE.exec(text) ?? []
  if (found === undefined) return
  const shown = /\p{Cc}/u.test(found) ? 'a control character' : found
  throw unsafe(`${what} contains ${shown}, which cannot be passed to a batch file safely`)
}

function quoteArgument(arg: string): string {
  if (PLAIN.test(arg)) return arg
  // Programs read a backslash before a quote as an escape of the quote.
  return `"${arg.replace(/\\+$/, '$&$&')}"`
}

function unsafe(message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_UNSAFE_ARGUMENT' })
}

/** Returns the file names to try for a command: with each extension of PATHEXT, unless it has one of them. */
export function windowsFileNames(
  command: string,
  pathExt = '.COM;.EXE;.BAT;.CMD',
): readonly string[] {
  const extensions = pathExt.split(';').filter((extension) => extension !== '')
  const lower = command.toLowerCase()
  const has = extensions.some((extension) => lower.endsWith(extension.toLowerCase()))
  return has ? [command] : extensions.map((extension) => command + extension)
}

/**
 * Returns the variables with names in upper case: on Windows, `Path` and `PATH` are the same variable. Of several values
 * the last one is used, so that a later object of a spread overrides an earlier one.
 */
export function upperCaseNames<T extends string | undefined>(
  env: Readonly<Record<string, T>>,
): Record<string, T> {
  const variables = Object.entries(env).map(([name, value]) => [name.toUpperCase(), value] as const)
  return Object.fromEntries(variables)
}
