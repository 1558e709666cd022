import type { Fields } from './fields.ts'
import type { Extensions } from './kubeconfig.ts'
import { quoteName } from './quote-name.ts'

/** Name and file of origin of an entry. */
export interface EntryHead {
  readonly name: string
  readonly file: string | undefined
}

/**
 * Reads a list of `{ name, <inner>: … }` into a map.
 *
 * Two entries of one name in one file are an error, as in client-go: which one counts would be a guess.
 */
export function parseNamedList<T>(
  root: Fields,
  list: string,
  inner: string,
  file: string | undefined,
  parse: (fields: Fields, head: EntryHead) => T,
): ReadonlyMap<string, T> {
  const positions = new Map<string, number>()
  const entries = new Map<string, T>()
  for (const [index, item] of root.mappings(list).entries()) {
    const name = item.text('name') ?? ''
    refuseSecond(root, list, name, positions.get(name), index)
    positions.set(name, index)
    const path = (): string =>
      name === '' ? item.pathOf('') : `${item.pathOf('')} ${quoteName(name)}`
    entries.set(name, parse(item.mapping(inner, path), { name, file }))
  }
  return entries
}

/** One for all entries without any. */
const NONE: Extensions = new Map()

/** Reads the `extensions` of a config or of an entry; their content is kept as it is. */
export function parseExtensions(owner: Fields): Extensions {
  const items = owner.mappings('extensions')
  if (items.length === 0) return NONE
  const positions = new Map<string, number>()
  const extensions = new Map<string, unknown>()
  for (const [index, item] of items.entries()) {
    const name = item.text('name') ?? ''
    refuseSecond(owner, 'extensions', name, positions.get(name), index)
    const content = item.raw('extension')
    // client-go does not count an extension without content as taken.
    if (content !== undefined) positions.set(name, index)
    extensions.set(name, content ?? null)
  }
  return extensions
}

function refuseSecond(
  owner: Fields,
  list: string,
  name: string,
  first: number | undefined,
  second: number,
): void {
  if (first === undefined) return
  throw owner.error(
    list,
    `has a duplicate name ${quoteName(name)} in list, at positions ${first} and ${second}`,
    `Remove or rename one of the two entries, ${list}[${first}] or ${list}[${second}].`,
  )
}
