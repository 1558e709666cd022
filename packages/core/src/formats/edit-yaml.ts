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

// The `yaml` library finds the position of each value, and the text is edited there. Its own editing functions do not
// fit: `toString` changes spaces, quotes and line breaks everywhere; `CST.setScalarValue` does not support empty values,
// and writes escapes such as `\a`, which are not valid in a kubeconfig written as JSON.

/** One step into a document: a key, or the list item that has this `name`. */
export type YamlStep = string | { readonly named: string }

/** The path to a mapping in a document. */
export type YamlPath = readonly YamlStep[]

/**
 * Sets string values in one mapping of a YAML document and leaves every other byte unchanged.
 *
 * The result is parsed and compared with the expected data, so that a document that cannot be edited in place (an alias
 * to another mapping, an unusual key) causes an error instead of a broken file.
 *
 * @throws {YamlError} The message never contains a part of the text.
 */
export function editYaml(
  text: string,
  path: YamlPath,
  values: Readonly<Record<string, string>>,
): string {
  let edited = text
  for (const [key, value] of Object.entries(values)) {
    edited = setValue(edited, path, key, (style) => encodeText(value, style))
  }
  return verifyEdit(edited, text, path, values)
}

/** A replacement of the first items of a list. */
export interface ListChange {
  /** The number of items to remove. */
  readonly removed: number
  /** The items to insert in their place. */
  readonly inserted: readonly string[]
}

/**
 * Replaces the first items of a list of strings in a YAML document and leaves every other byte unchanged.
 *
 * A missing or empty list is written on one line. As in `editYaml`, the result is parsed and compared.
 *
 * @param path The path to the mapping that contains the list.
 * @throws {YamlError} The message never contains a part of the text.
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
      ? replaceFirstItems(text, list, removed, items)
      : setValue(text, path, key, () => `[${items.join(', ')}]`)
  const old = Object(findData(parseYaml(text), path))[key]
  const kept = Array.isArray(old) ? old.slice(removed) : []
  return verifyEdit(edited, text, path, { [key]: [...inserted, ...kept] })
}

/** Returns the edited text if its data is that of the old text with `values` in the mapping at `path`. */
function verifyEdit(
  edited: string,
  old: string,
  path: YamlPath,
  values: Readonly<Record<string, unknown>>,
): string {
  const expected = parseYaml(old)
  Object.assign(Object(findData(expected, path)), values)
  if (canonical(parseYaml(edited)) === canonical(expected)) return edited
  throw new YamlError('the value cannot be edited without changing other parts of the document')
}

type Encode = (style: Scalar['type']) => string

/** Replaces the value of a key, or adds the pair before the first one and in the same style. */
function setValue(text: string, path: YamlPath, key: string, encode: Encode): string {
  const mapping = findMapping(text, path)
  const pair = findPair(mapping, key)
  if (pair !== undefined) return replaceValue(text, pair.value as Node | null, encode)
  const at = rangeOf(mapping.items[0]?.key as Node | undefined).start
  if (!mapping.flow) {
    return `${text.slice(0, at)}${key}: ${encode(undefined)}${newLine(text, at)}${text.slice(at)}`
  }
  const before = text.slice(rangeOf(mapping).start + 1, at)
  const gap = before.trim() === '' && before !== '' ? before : ' '
  const added = `${JSON.stringify(key)}: ${encode('QUOTE_DOUBLE')},${gap}`
  return text.slice(0, at) + added + text.slice(at)
}

function replaceValue(text: string, node: Node | null, encode: Encode): string {
  const { start, end } = rangeOf(node)
  const old = text.slice(start, end)
  // An empty value may have no space around it, and a block scalar includes its line break.
  const before = old === '' && text[start - 1] === ':' ? ' ' : ''
  const after = old === '' && text[end] === '#' ? ' ' : (/\r?\n$/.exec(old)?.[0] ?? '')
  const value = encode(isScalar(node) ? node.type : undefined)
  return text.slice(0, start) + before + value + after + text.slice(end)
}

/** The shape of a JWT: no YAML parser reads it as a number, a boolean or an indicator, so it needs no quotes. */
const JWT = /^ey[\w-]+\.[\w-]+\.[\w-]*$/

function encodeText(value: string, style: Scalar['type']): string {
  if (style === 'QUOTE_SINGLE') return `'${value.replaceAll("'", "''")}'`
  const isPlain = style !== 'QUOTE_DOUBLE' && JWT.test(value)
  return isPlain ? value : JSON.stringify(value)
}

function replaceFirstItems(
  text: string,
  list: YAMLSeq<Node>,
  removed: number,
  inserted: readonly string[],
): string {
  const { items } = list
  const { start, end } = rangeOf(list)
  const next = items[removed]
  if (list.flow) {
    const first = rangeOf(items[0]).start
    const rest = next === undefined ? rangeOf(items.at(-1)).end : rangeOf(next).start
    return text.slice(0, first) + inserted.map((item) => `${item}, `).join('') + text.slice(rest)
  }
  const added = inserted.map((item) => `- ${item}${newLine(text, start)}`).join('')
  if (next !== undefined) {
    const rest = text.lastIndexOf('-', rangeOf(next).start - 1)
    return text.slice(0, start) + added + text.slice(rest)
  }
  const after = /\r?\n$/.exec(text.slice(start, end))?.[0] ?? ''
  return text.slice(0, start) + (added.trimEnd() || '[]') + after + text.slice(end)
}

/** Returns a line break and the indentation up to the column of a position. */
function newLine(text: string, at: number): string {
  const column = at - (text.lastIndexOf('\n', at - 1) + 1)
  return (text.includes('\r\n') ? '\r\n' : '\n') + ' '.repeat(column)
}

function rangeOf(node: Pick<Node, 'range'> | null | undefined): { start: number; end: number } {
  const [start, end] = node?.range ?? []
  if (start === undefined || end === undefined) throw new YamlError('a value has no position')
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
  throw new YamlError('the entry is not a mapping in this document')
}

/** The last of several equal keys wins. */
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

/** Returns the same text for the same data, whatever the order of its keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return encodeJson(value)
  const members = Object.entries(value).map(
    ([key, member]) => `${encodeJson(key)}:${canonical(member)}`,
  )
  return `{${members.sort().join(',')}}`
}
