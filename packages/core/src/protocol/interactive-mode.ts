import type { InteractiveMode } from './exec-config.ts'

/** What is known about the person who could be asked. */
export interface Asking {
  /** Whether standard input is a terminal. */
  readonly isTerminal: boolean
  /** Set when the program reads standard input itself; the text says what for, and may be empty. */
  readonly stdinUnavailable?: string | undefined
  /** A run ahead of time, with nobody waiting for it, must not ask anybody. */
  readonly early?: boolean
}

export type Interactivity =
  | { readonly interactive: boolean }
  /** Why a plugin that must ask cannot. */
  | { readonly refused: string }

/** Decides whether a plugin gets the terminal: the table of the exec protocol, plus runs ahead of time. */
export function decideInteractivity(mode: InteractiveMode, asking: Asking): Interactivity {
  const available = asking.isTerminal && asking.stdinUnavailable === undefined && !asking.early
  if (mode === 'Never') return { interactive: false }
  if (mode === 'IfAvailable') return { interactive: available }
  if (available) return { interactive: true }
  if (!asking.isTerminal) return { refused: 'standard input is not a terminal' }
  if (asking.stdinUnavailable === undefined) return { refused: 'nobody is waiting for this run' }
  const reader = asking.stdinUnavailable === '' ? '' : `: ${asking.stdinUnavailable}`
  return { refused: `standard input is unavailable${reader}` }
}
