import type { Command } from '../command.ts'
import { type FlagName, flagFacts, GLOBAL_FLAGS } from '../flags/flag-table.ts'
import { ABOUT } from './help-text.ts'

/** Returns the manual page in roff, from the same tables as the help. */
export function manPage(commands: readonly Command[], version: string): string {
  const lines = [
    `.TH KUBECRED 1 "" "kubecred ${version}" "User Commands"`,
    '.SH NAME',
    `kubecred \\- ${ABOUT}`,
    '.SH SYNOPSIS',
    '.B kubecred',
    '.I COMMAND',
    '[FLAGS]',
    '.SH COMMANDS',
    ...commands.flatMap(commandPart),
    '.SH GLOBAL FLAGS',
    ...GLOBAL_FLAGS.flatMap(flagPart),
    '.SH EXIT STATUS',
    '0 success; 1 the server responded with 400 or higher; 2 usage error; 10 to 99 an error with a code, see',
    '.B kubecred explain.',
    '.SH ENVIRONMENT',
    '.TP',
    '.B KUBECRED_PLUGIN_TIMEOUT, KUBECRED_REFRESH_ON, KUBECRED_PLUGIN_ENV',
    'Defaults for \\-\\-plugin\\-timeout, \\-\\-refresh\\-on and \\-\\-plugin\\-env. Ignored if KUBERNETES_EXEC_INFO is set.',
    '.TP',
    '.B KUBECONFIG, KUBERC',
    'Paths of the files to use instead of the default ones.',
    '.SH FILES',
    '.TP',
    '.I ~/.kube/config',
    'The default kubeconfig; KUBECONFIG and \\-\\-kubeconfig override it.',
    '.TP',
    '.I ~/.kube/kuberc',
    'The default file for the policy that decides which credential plugins may run; KUBERC and \\-\\-kuberc override it.',
    '.SH SEE ALSO',
    '.BR kubectl (1)',
  ]
  return `${lines.join('\n')}\n`
}

function commandPart({ name, operands, summary, about, flags, examples }: Command): string[] {
  return [
    `.SS kubecred ${name}${operands === '' ? '' : ` ${escaped(operands)}`}`,
    `${escaped(summary)}.`,
    ...about.flatMap((paragraph) => ['.PP', escaped(paragraph)]),
    ...flags.flatMap(flagPart),
    ...(examples.length === 0 ? [] : ['.PP', '.nf', ...examples.map(escaped), '.fi']),
  ]
}

function flagPart(name: FlagName): string[] {
  const { short, value, help } = flagFacts(name)
  const long = name === 'v' ? '' : `--${name}`
  const names = [short === undefined ? '' : `-${short}`, long].filter((each) => each !== '')
  const shown = [...new Set(names)].join(', ')
  return [
    '.TP',
    `.B ${escaped(shown)}${value === undefined ? '' : ` ${escaped(value)}`}`,
    escaped(help),
  ]
}

/** Escapes text for roff: a line that begins with a dot would be a request, and a dash would become a hyphen. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
}
