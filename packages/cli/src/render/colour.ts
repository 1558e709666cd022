import { styleText } from 'node:util'
import type { Environment } from 'kubecred/internal'

const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'blue'] as const

/** Marks parts of a text for a person's eyes; the identity where colours would not be welcome. */
export type Palette = Readonly<Record<(typeof STYLES)[number], (text: string) => string>>

/** Colours on a terminal, unless NO_COLOR or a terminal that cannot show them says otherwise. */
export function choosePalette(isTerminal: boolean, env: Environment): Palette {
  const isWanted = isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const styles = STYLES.map((style) => [
    style,
    // The decision is made here: the stream that Node would look at is not always the one we write to.
    (text: string) => (isWanted ? styleText(style, text, { validateStream: false }) : text),
  ])
  return Object.fromEntries(styles)
}
