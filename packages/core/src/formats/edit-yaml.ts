import {
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { encodeJson } from './json.ts'
import { parseYaml, readDocument, YamlError } from './yaml.ts'

// The library finds the place of each value, and we write there. Its own ways to edit do not fit: a document written
// with `toString` changes spaces, quotes and line breaks everywhere; `CST.setScalarValue` has no place for a value that
// is empty, and writes escapes such as `\a`, with which a kubeconfig in JSON is no longer JSON.

/** One step into a document: a key, or the item of a list that has this `name`. */
export type YamlStep = string | { readonly named: string }

export type YamlPath = readonly YamlStep[]

/**
 * Sets texts in one mapping of a YAML document; every other byte stays as it is.
 *
 * The result is parsed again and compared, so that a text that cannot be edited in place (an alias that leads
 * elsewhere, a key in an unusual form) is an error and not a broken file.
 *
 * @throws {YamlError} Never with a piece of the text.
 */
export function editYaml(
  text: string,
  path: YamlPath,
  values: Readonly<Record<string, string>>,
): string {
  let edited = text
  for (const [key, value] of Object.entries(values)) {
    edited = setValue(edited, path, key, (style) => writeText(value, style))
  }
  return check(edited, text, path, values)
}

/** A change of the beginning of a list. */
export interface ListChange {
  /** How many items to remove. */
  readonly removed: number
  /** The items to put in their place. */
  readonly inserted: readonly string[]
}

/**
 * Exchanges the first items of a list of texts in a YAML document; every other byte stays as it is.
 *
 * A list that is missing or empty is written on one line. As in `editYaml`, the result is parsed again and compared.
 *
 * @param path Leads to the mapping that has the list.
 * @throws {YamlError} Never with a piece of the text.
 */
export function editYamlList(
  text: string,
  path: YamlPath,
  key: string,
  { removed, inserted }: ListChange,
): string {
  const list = findPair(findMapping(text, path), key)?.value
  const items = inserted.map((item) => JSON.stringify(item))
  const edited =
    isSeq<Node>(list) && list.items.length > 0
      ? exchangeFirst(text, list, removed, items)
      : setValue(text, path, key, () => `[${items.join(', ')}]`)
  const old = Object(findData(parseYaml(text), path))[key]
  const kept = Array.isArray(old) ? old.slice(removed) : []
  return check(edited, text, path, { [key]: [...inserted, ...kept] })
}

/** Returns the edited text if it says what the old one said, with `values` in the mapping at `path`. */
function check(
  edited: string,
  old: string,
  path: YamlPath,
  values: Readonly<Record<string, unknown>>,
): string {
  const expected = parseYaml(old)
  Object.assign(Object(findData(expected, path)), values)
  if (canonical(parseYaml(edited)) === canonical(expected)) return edited
  throw new YamlError('it is written in a way that cannot be edited without touching other parts')
}

type Write = (style: Scalar['type']) => string

/** Writes a value in the place of the old one, or before the first pair and like it. */
function setValue(text: string, path: YamlPath, key: string, write: Write): string {
  const mapping = findMapping(text, path)
  const pair = findPair(mapping, key)
  if (pair !== undefined) return replaceValue(text, pair.value as Node | null, write)
  const at = placeOf(mapping.items[0]?.key as Node | undefined).start
  if (!mapping.flow) {
    return `${text.slice(0, at)}${key}: ${write(undefined)}${newLine(text, at)}${text.slice(at)}`
  }
  const before = text.slice(placeOf(mapping).start + 1, at)
  const gap = before.trim() === '' && before !== '' ? before : ' '
  const added = `${JSON.stringify(key)}: ${write('QUOTE_DOUBLE')},${gap}`
  return text.slice(0, at) + added + text.slice(at)
}

function replaceValue(text: string, node: Node | null, write: Write): string {
  const { start, end } = placeOf(node)
  const old = text.slice(start, end)
  // Around an empty value there need not be a space, and a block ends with its line.
  const before = old === '' && text[start - 1] === ':' ? ' ' : ''
  const after = old === '' && text[end] === '#' ? ' ' : (/\r?\n$/.exec(old)?.[0] ?? '')
  const value = write(isScalar(node) ? node.type : undefined)
  return text.slice(0, start) + before + value + after + text.slice(end)
}

/** Only what no reader could take for a number, a word such as `yes` or a mark is written without quotes. */
const SURELY_TEXT = /^ey[\w-]+\.[\w-]+\.[\w-]*$/

function writeText(value: string, style: Scalar['type']): string {
  if (style === 'QUOTE_SINGLE') return `'${value.replaceAll("'", "''")}'`
  const isPlain = style !== 'QUOTE_DOUBLE' && SURELY_TEXT.test(value)
  return isPlain ? value : JSON.stringify(value)
}

function exchangeFirst(
  text: string,
  list: YAMLSeq<Node>,
  removed: number,
  inserted: readonly string[],
): string {
  const { items } = list
  const { start, end } = placeOf(list)
  const next = items[removed]
  if (list.flow) {
    const first = placeOf(items[0]).start
    const rest = next === undefined ? placeOf(items.at(-1)).end : placeOf(next).start
    return text.slice(0, first) + inserted.map((item) => `${item}, `).join('') + text.slice(rest)
  }
  const added = inserted.map((item) => `- ${item}${newLine(text, start)}`).join('')
  if (next !== undefined) {
    const rest = text.lastIndexOf('-', placeOf(next).start - 1)
    return text.slice(0, start) + added + text.slice(rest)
  }
  const after = /\r?\n$/.exec(text.slice(start, end))?.[0] ?? ''
  return text.slice(0, start) + (added.trimEnd() || '[]') + after + text.slice(end)
}

/** A line break, and spaces up to the column of a place. */
function newLine(text: string, at: number): string {
  const column = at - (text.lastIndexOf('\n', at - 1) + 1)
  return (text.includes('\r\n') ? '\r\n' : '\n') + ' '.repeat(column)
}

function placeOf(node: Pick<Node, 'range'> | null | undefined): { start: number; end: number } {
  const [start, end] = node?.range ?? []
  if (start === undefined || end === undefined) throw new YamlError('a value has no place')
  return { start, end }
}

function findMapping(text: string, path: YamlPath): YAMLMap {
  let node: unknown = readDocument(text)?.contents
  for (const step of path) {
    if (typeof step === 'string') node = isMap(node) ? findPair(node, step)?.value : undefined
    else
      node = isSeq(node)
        ? node.items.find((item) => isMap(item) && item.get('name') === step.named)
        : undefined
  }
  if (isMap(node)) return node
  throw new YamlError('the entry is not written out where it stands')
}

/** Of two equal keys the last counts. */
function findPair(mapping: YAMLMap, name: string): Pair | undefined {
  return mapping.items.findLast(({ key }) => isScalar(key) && key.value === name)
}

function findData(root: unknown, path: YamlPath): unknown {
  let data = root
  for (const step of path) {
    data =
      typeof step === 'string'
        ? Object(data)[step]
        : [data].flat().find((item) => Object(item).name === step.named)
  }
  return data
}

/** The same text for the same data, in whichever order it was written. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return encodeJson(value)
  const members = Object.entries(value).map(
    ([key, member]) => `${encodeJson(key)}:${canonical(member)}`,
  )
  return `{${members.sort().join(',')}}`
}
