/**
 * Variables that say where somebody sits, not who they are: two shells that differ only in these share.
 *
 * A name that ends with `*` stands for all that begin with it. What is not listed here separates: a list that
 * is too short costs a run of the plugin, one that is too long would give one account's credential to another.
 */
export const NOISE: readonly string[] = [
  '_',
  'ALACRITTY_*',
  'COLORFGBG',
  'COLORTERM',
  'COLUMNS',
  'DIRENV_*',
  'FZF_*',
  'GNOME_TERMINAL_*',
  'HISTCMD',
  'HISTCONTROL',
  'HISTFILE',
  'HISTFILESIZE',
  'HISTSIZE',
  'INVOCATION_ID',
  'ITERM_*',
  'JOURNAL_STREAM',
  'KITTY_*',
  'KONSOLE_*',
  'KUBERNETES_EXEC_INFO',
  'LC_TERMINAL*',
  'LESS*',
  'LINES',
  'LS_COLORS',
  'MAIL',
  'OLDPWD',
  'PAGER',
  'PROMPT*',
  'PS1',
  'PS2',
  'PS4',
  'PWD',
  'RANDOM',
  'SECONDS',
  'SHELL_SESSION_ID',
  'SHLVL',
  'SSH_CLIENT',
  'SSH_CONNECTION',
  'SSH_TTY',
  'STARSHIP_*',
  'STY',
  'TERM',
  'TERM_*',
  'TERMINATOR_*',
  'TILIX_*',
  'TMUX*',
  'VTE_*',
  'WEZTERM_*',
  'WINDOW',
  'WINDOWID',
  'XTERM_*',
  'ZELLIJ*',
]

const NAMES = new Set(NOISE.filter((name) => !name.endsWith('*')))
const PREFIXES = NOISE.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))

/** Whether a variable cannot change what a plugin answers. */
export function isNoise(name: string): boolean {
  return NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix))
}
