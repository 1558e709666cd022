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
