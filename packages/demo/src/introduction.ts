import type { Palette } from '@kubecred/cli/internal'
import type { ConnectedUser } from './summary.ts'

/** Returns the lines that introduce the users and name the page. */
export function introduction(
  users: readonly ConnectedUser[],
  {
    url,
    remark,
    problems,
  }: { readonly url: string; readonly remark: string; readonly problems: readonly string[] },
  { bold, dim, yellow }: Palette,
): readonly string[] {
  const width = Math.max(...users.map(({ user }) => user.id.length))
  return [
    '',
    ...users.map(({ user: { id, description } }) => `  ${bold(id.padEnd(width))}  ${description}`),
    ...problems.map((each) => `  ${yellow(each)}`),
    '',
    `  The page: ${bold(url)}`,
    `  ${dim(remark)}`,
    '',
  ]
}
