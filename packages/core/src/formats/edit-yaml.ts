import { isMap, isScalar, isSeq, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml'
import { encodeJson } from './json.ts'
import { parseYaml, readDocument, YamlError } from './yaml.ts'

/** One step into a document: a key, or the item of a list that has this `name`. */
export type YamlStep = string | { readonly named: string }

export type YamlPath = readonly YamlStep[]

/**
 * Sets texts in one mapping of a YAML document; every other byte stays as it is.
 *
 * The text is edited in place rather than written anew from what was parsed: comments, order, quotes and line
 * breaks are somebody's work. What came out is parsed again and compared, so that a case nobody thought of
 * (an alias that leads elsewhere, a key in a form of its own) is an error and not a broken file.
 *
 * @throws {YamlError} Never with a piece of the text.
 */
export function editYaml(text: string, path: YamlPath, values: Readonly<Record<string, string>>) {
  let edited = text
  for (const [key, value] of Object.entries(values)) edited = setText(edited, path, key, value)
  const expected = parseYaml(text)
  Object.assign(Object(findData(expected, path)), values)
  if (canonical(parseYaml(edited)) !== canonical(expected)) {
    throw new YamlError('it is written in a way that cannot be edited without touching other parts')
  }
  return edited
}

function setText(text: string, path: YamlPath, key: string, value: string): string {
  const mapping = findMapping(readDocument(text)?.contents, path)
  const pair = mapping.items.findLast((item) => isScalar(item.key) && item.key.value === key)
  return pair === undefined
    ? insertPair(text, mapping, key, writeText(value, undefined), JSON.stringify(value))
    : replaceValue(text, pair.value, (style) => writeText(value, style))
}

/** Writes something else in the place of a value; `write` is told how the old one was quoted. */
export function replaceValue(
  text: string,
  node: unknown,
  write: (style: Scalar['type']) => string,
): string {
  const { range } = Object(node) as { range?: readonly number[] }
  const [start, end] = range ?? []
  if (start === undefined || end === undefined) throw new YamlError('a value has no place')
  const old = text.slice(start, end)
  const style = isScalar(node) ? node.type : undefined
  // Around an empty value there need not be a space, and a block ends with its line.
  const before = old === '' && text[start - 1] === ':' ? ' ' : ''
  const after = old === '' && text[end] === '#' ? ' ' : (/\r?\n$/.exec(old)?.[0] ?? '')
  return text.slice(0, start) + before + write(style) + after + text.slice(end)
}

/** Puts a pair before the first one, in the same manner; its value is YAML already. */
export function insertPair(
  text: string,
  mapping: YAMLMap,
  key: string,
  value: string,
  inFlow = value,
): string {
  const [start, end] = mapping.range ?? []
  const first = Object(mapping.items[0]?.key) as Partial<Scalar>
  const at = first.range?.[0]
  if (start === undefined || end === undefined || at === undefined) {
    throw new YamlError('a mapping has no place')
  }
  if (mapping.flow) {
    const between = text.slice(start + 1, at)
    const gap = between.trim() === '' && between !== '' ? between : ' '
    const pair = `${JSON.stringify(key)}: ${inFlow},`
    return text.slice(0, at) + pair + gap + text.slice(at)
  }
  const indent = ' '.repeat(at - (text.lastIndexOf('\n', at - 1) + 1))
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n'
  const pair = `${key}: ${value}${lineBreak}${indent}`
  return text.slice(0, at) + pair + text.slice(at)
}

/** Only what no reader could take for a number, a word such as `yes` or a mark is written without quotes. */
const SURELY_TEXT = /^ey[\w-]+\.[\w-]+\.[\w-]*$/

function writeText(value: string, style: Scalar['type']): string {
  if (style === 'QUOTE_SINGLE') return `'${value.replaceAll("'", "''")}'`
  const isPlain = style !== 'QUOTE_DOUBLE' && SURELY_TEXT.test(value)
  return isPlain ? value : JSON.stringify(value)
}

export function findMapping(root: unknown, path: YamlPath): YAMLMap {
  let node = root
  for (const step of path) node = stepInto(node, step)
  if (isMap(node)) return node
  throw new YamlError('the entry is not written out where it stands')
}

function stepInto(node: unknown, step: YamlStep): unknown {
  if (typeof step === 'string') {
    if (!isMap(node)) return undefined
    return node.items.findLast(({ key }) => isScalar(key) && key.value === step)?.value
  }
  return isSeq(node)
    ? node.items.find((item) => isMap(item) && item.get('name') === step.named)
    : undefined
}

export function findData(root: unknown, path: YamlPath): unknown {
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
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return encodeJson(value)
  const members = Object.entries(value).map(
    ([key, member]) => `${encodeJson(key)}:${canonical(member)}`,
  )
  return `{${members.sort().join(',')}}`
}

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
