import { styleText } from 'node:util'
import type { Environment } from 'kubecred/internal'

const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'blue'] as const

/** Functions that colour text; they return it unchanged if colours are off. */
export type Palette = Readonly<Record<(typeof STYLES)[number], (text: string) => string>>

/** Returns a palette with colours on a terminal, unless NO_COLOR is set or TERM is `dumb`. */
export function choosePalette(isTerminal: boolean, env: Environment): Palette {
  const isWanted = isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const styles = STYLES.map((style) => [
    style,
    // validateStream is off because Node would check standard output, which is not always where we write.
    (text: string) => (isWanted ? styleText(style, text, { validateStream: false }) : text),
  ])
  return Object.fromEntries(styles)
}
