import type { Command } from '../command.ts'
import { COMMON_FLAGS, type FlagName, flagFacts } from '../flags/flag-table.ts'

/** The manual in roff, from the same table as the help. */
export function manPage(commands: readonly Command[], version: string): string {
  const lines = [
    `.TH KUBECRED 1 "" "kubecred ${version}" "User Commands"`,
    '.SH NAME',
    'kubecred \\- authenticated requests to Kubernetes, and why they are refused',
    '.SH SYNOPSIS',
    '.B kubecred',
    '.I COMMAND',
    '[FLAGS]',
    '.SH COMMANDS',
    ...commands.flatMap(commandPart),
    '.SH FLAGS OF EVERY COMMAND',
    ...COMMON_FLAGS.flatMap(flagPart),
    '.SH EXIT STATUS',
    '0 done; 1 the server answered 400 or more; 2 wrong usage; 10 to 99 an error with a code, see',
    '.B kubecred explain.',
    '.SH ENVIRONMENT',
    '.TP',
    '.B KUBECRED_PLUGIN_TIMEOUT, KUBECRED_REFRESH_ON, KUBECRED_PLUGIN_ENV',
    'What \\-\\-plugin\\-timeout, \\-\\-refresh\\-on and \\-\\-plugin\\-env say, where these are not given. Ignored if KUBERNETES_EXEC_INFO is set.',
    '.TP',
    '.B KUBECONFIG, KUBERC',
    'Files to read in place of those below.',
    '.SH FILES',
    '.TP',
    '.I ~/.kube/config',
    'The kubeconfig, unless KUBECONFIG or \\-\\-kubeconfig names others.',
    '.TP',
    '.I ~/.kube/kuberc',
    'The policy that says which credential plugins may run, unless KUBERC or \\-\\-kuberc names another.',
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

/** A line that begins with a dot would be a request, and a dash would be a hyphen. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
}
