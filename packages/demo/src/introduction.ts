import type { Palette } from '@kubecred/cli/internal'
import type { Player } from './summary.ts'

/** Says who is there, and where to look. */
export function introduction(
  players: readonly Player[],
  {
    url,
    remark,
    problems,
  }: { readonly url: string; readonly remark: string; readonly problems: readonly string[] },
  { bold, dim, yellow }: Palette,
): readonly string[] {
  const width = Math.max(...players.map(({ character }) => character.id.length))
  return [
    '',
    ...players.map(
      ({ character: { id, introduction } }) => `  ${bold(id.padEnd(width))}  ${introduction}`,
    ),
    ...problems.map((each) => `  ${yellow(each)}`),
    '',
    `  The page: ${bold(url)}`,
    `  ${dim(remark)}`,
    '',
  ]
}
