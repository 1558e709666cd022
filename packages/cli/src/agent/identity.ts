import { parseJson } from 'kubecred/internal'
import type { GetRequest } from './protocol.ts'

/** The part of a request that decides the identity. */
type Identifying = Omit<GetRequest, 'do'>

/**
 * Returns everything that distinguishes two requesters as one string: with the same string they share a credential.
 *
 * The string contains secrets: hash it with the key of the process, never store or show it.
 */
export function identityText(request: Identifying): string {
  const { path, command, args, env, execInfo, files, ttlMs } = request
  const variables = Object.entries(env)
    .filter(([name]) => !isNoise(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const cwd = cwdMatters(request) ? request.cwd : undefined
  return JSON.stringify([path, command, args, variables, cwd, canonical(execInfo), files, ttlMs])
}

/** `./file`, `../file` and `folder/file`, also after `--flag=`. A URL or an ARN has a colon before its first slash. */
const RELATIVE = /^(?:-[^=]*=)?(?:\.{1,2}(?:\/|$)|[\w.@+-]+\/)/

/**
 * Whether the current folder can change the answer: for known plugins only if an argument or a variable that names a
 * file is relative; for all others always.
 */
function cwdMatters({ isAccountKnown, args, env }: Identifying): boolean {
  if (!isAccountKnown || args.some((arg) => RELATIVE.test(arg))) return true
  return Object.entries(env).some(
    ([name, value]) =>
      /(?:^|_)(?:FILE|DIR|HOME|CONFIG|PATH)$/.test(name) && isRelative(name, value),
  )
}

function isRelative(name: string, value: string): boolean {
  if (isNoise(name) || value === '') return false
  return !value.startsWith('/') && !/^(?:~|[a-z]+:)/i.test(value)
}

/** Sorts members: clients write the same object with its members in different orders. */
function canonical(text: string): unknown {
  return sorted(parseJson(text))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  // Not rounded to a double: two clusters may differ in the last digit.
  if (typeof value === 'bigint') return { integer: value.toString() }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [key, sorted(member)])
  return members.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
}

/**
 * Variables of the terminal or shell that do not affect the account: two shells that differ only in these share.
 *
 * A name that ends with `*` is a prefix. Every other variable separates requesters: a list that is too short costs a
 * run of the plugin, one that is too long would give one account's credential to another.
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

/** Whether a variable cannot change the answer of a plugin. */
export function isNoise(name: string): boolean {
  return NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix))
}
