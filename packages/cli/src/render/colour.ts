/** Marks parts of a text for a person's eyes; the identity where colours would not be welcome. */
export interface Palette {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly blue: (text: string) => string
}

/** Colours on a terminal, unless NO_COLOR or a terminal that cannot show them says otherwise. */
export function choosePalette(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Palette {
  const isWanted = isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return isWanted ? COLOURS : PLAIN
}

const same = (text: string): string => text
const paint =
  (begin: number, end: number) =>
  (text: string): string =>
    `\u001b[${begin}m${text}\u001b[${end}m`

const PLAIN: Palette = {
  bold: same,
  dim: same,
  red: same,
  green: same,
  yellow: same,
  blue: same,
}

const COLOURS: Palette = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  blue: paint(34, 39),
}
