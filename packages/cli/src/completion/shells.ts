import type { Command } from '../command.ts'
import { type FlagName, flagFacts, GLOBAL_FLAGS } from '../flags/flag-table.ts'

/** The shells with a completion script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** The flag whose values are the context names of the kubeconfig. */
const CONTEXT_FLAG = '--context'
const LIST_CONTEXTS = 'kubecred completion contexts 2>/dev/null'

/** Returns the script that a shell sources: it completes commands, flags, contexts and files. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands)
    case 'zsh':
      return zsh(commands)
    case 'fish':
      return fish(commands)
  }
}

function flagsOf({ flags }: Pick<Command, 'flags'>): FlagName[] {
  return [...flags, ...GLOBAL_FLAGS]
}

function longFlags(command: Pick<Command, 'flags'>): string[] {
  return flagsOf(command).map((name) => (name === 'v' ? '-v' : `--${name}`))
}

function bash(commands: readonly Command[]): string {
  const cases = commands.map(
    (command) => `    ${command.name}) flags='${longFlags(command).join(' ')}' ;;`,
  )
  return `# kubecred completion for bash: source <(kubecred completion bash)
_kubecred() {
  local current previous command='' word flags
  current=\${COMP_WORDS[COMP_CWORD]}
  previous=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [[ $previous == ${CONTEXT_FLAG} ]]; then
    # Not compgen -W, which expands its words: a name such as <(command) would run.
    while IFS= read -r word; do
      if [[ $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
    done < <(${LIST_CONTEXTS})
    return
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) command=$word; break ;; esac
  done
  case $command in
${cases.join('\n')}
    *) flags='${longFlags({ flags: [] }).join(' ')}' ;;
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ -z $command ]]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')}' -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _kubecred kubecred
`
}

function zsh(commands: readonly Command[]): string {
  const entries = commands.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`)
  const cases = commands.map(
    (command) =>
      `    ${command.name}) _arguments -S ${zshFlags(command).join(' ')} '*:file:_files' ;;`,
  )
  return `#compdef kubecred
# kubecred completion for zsh: source <(kubecred completion zsh)
_kubecred_contexts() {
  local -a contexts
  contexts=(\${(f)"$(${LIST_CONTEXTS})"})
  compadd -a contexts
}
_kubecred() {
  local -a commands
  commands=(
${entries.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
    *) _files ;;
  esac
}
compdef _kubecred kubecred
`
}

function zshFlags(command: Command): string[] {
  return flagsOf(command).map((name) => {
    const { help, value } = flagFacts(name)
    const flag = name === 'v' ? '-v' : `--${name}`
    const values = name === 'context' ? '_kubecred_contexts' : value === 'FILE' ? '_files' : ' '
    return `'${flag}[${quoted(help)}]${value === undefined ? '' : `:${value.replaceAll(/[^A-Z=]/g, '')}:${values}`}'`
  })
}

function fish(commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name).join(' ')
  const isFirst = `not __fish_seen_subcommand_from ${names}`
  const lines = commands.flatMap((command) => [
    `complete -c kubecred -n '${isFirst}' -f -a ${command.name} -d '${quoted(command.summary)}'`,
    ...command.flags.map(
      (name) =>
        `complete -c kubecred -n '__fish_seen_subcommand_from ${command.name}' ${fishFlag(name)}`,
    ),
  ])
  const common = GLOBAL_FLAGS.map((name) => `complete -c kubecred ${fishFlag(name)}`)
  return `# kubecred completion for fish: kubecred completion fish | source\n${[...lines, ...common].join('\n')}\n`
}

function fishFlag(name: FlagName): string {
  const { help, value, short } = flagFacts(name)
  const letter = short === undefined ? '' : `-s ${short} `
  const long = name === 'v' ? '' : `-l ${name} `
  const takes =
    name === 'context'
      ? `-x -a '(${LIST_CONTEXTS})' `
      : value === 'FILE'
        ? '-r '
        : value === undefined
          ? ''
          : '-x '
  return `${letter}${long}${takes}-d '${quoted(help)}'`
}

/** Makes text safe between single quotes, and in the descriptions of zsh. */
function quoted(text: string): string {
  return text.replaceAll("'", '’').replaceAll('[', '(').replaceAll(']', ')').replaceAll(':', ',')
}
