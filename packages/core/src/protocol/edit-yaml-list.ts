import { isMap, isScalar, isSeq, type YAMLSeq } from 'yaml'
import {
  canonical,
  findData,
  findMapping,
  insertPair,
  replaceValue,
  type YamlPath,
} from './edit-yaml.ts'
import { parseYaml, readDocument, YamlError } from './yaml.ts'

/** What becomes of the beginning of a list. */
export interface ListChange {
  /** How many items go. */
  readonly removed: number
  /** What stands there then. */
  readonly inserted: readonly string[]
}

/**
 * Exchanges the first items of a list of texts in a YAML document; every other byte stays as it is.
 *
 * A list that is not there, or empty, is written on one line. As in `editYaml`, what came out is parsed again and
 * compared.
 *
 * @param path Leads to the mapping that has the list.
 * @throws {YamlError} Never with a piece of the text.
 */
export function editYamlList(
  text: string,
  path: YamlPath,
  key: string,
  change: ListChange,
): string {
  const mapping = findMapping(readDocument(text)?.contents, path)
  const pair = mapping.items.findLast((item) => isScalar(item.key) && item.key.value === key)
  const list = pair?.value
  const line = `[${change.inserted.map((item) => JSON.stringify(item)).join(', ')}]`
  const edited =
    isSeq(list) && list.items.length > 0
      ? editItems(text, list, change)
      : pair === undefined
        ? insertPair(text, mapping, key, line)
        : replaceValue(text, list, () => line)
  checkEdited(text, edited, path, key, change)
  return edited
}

function checkEdited(
  text: string,
  edited: string,
  path: YamlPath,
  key: string,
  { removed, inserted }: ListChange,
): void {
  const expected = parseYaml(text)
  const data = Object(findData(expected, path)) as Record<string, unknown>
  const old = Array.isArray(data[key]) ? data[key] : []
  data[key] = [...inserted, ...old.slice(removed)]
  if (canonical(parseYaml(edited)) === canonical(expected)) return
  throw new YamlError('it is written in a way that cannot be edited without touching other parts')
}

function editItems(text: string, list: YAMLSeq, { removed, inserted }: ListChange): string {
  const [start, end] = list.range ?? []
  const first = startOf(list.items[0])
  const next = removed < list.items.length ? startOf(list.items[removed]) : undefined
  if (start === undefined || end === undefined || first === undefined) {
    throw new YamlError('a list has no place')
  }
  if (list.flow) {
    const items = inserted.map((item) => `${JSON.stringify(item)}, `).join('')
    const rest = next ?? endOf(list.items.at(-1)) ?? end
    return text.slice(0, first) + items + text.slice(rest)
  }
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n'
  const indent = ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1))
  const items = inserted.map((item) => `- ${JSON.stringify(item)}${lineBreak}${indent}`).join('')
  if (next !== undefined) return text.slice(0, start) + items + text.slice(dashBefore(text, next))
  const after = /\r?\n$/.exec(text.slice(start, end))?.[0] ?? ''
  const rest = items === '' ? '[]' : items.trimEnd()
  return text.slice(0, start) + rest + after + text.slice(end)
}

function dashBefore(text: string, at: number): number {
  const dash = text.lastIndexOf('-', at - 1)
  if (dash === -1) throw new YamlError('an item has no dash')
  return dash
}

function startOf(node: unknown): number | undefined {
  return rangeOf(node)[0]
}

function endOf(node: unknown): number | undefined {
  return rangeOf(node)[1]
}

function rangeOf(node: unknown): readonly number[] {
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return []
  return node.range ?? []
}
