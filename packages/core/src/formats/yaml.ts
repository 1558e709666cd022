import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  type Scalar,
  type Tags,
  visit,
} from 'yaml'
import { parseJson } from './json.ts'
import { NOT_PLAIN, readPlainYaml } from './plain-yaml.ts'
import { findYamlMistake, type YamlMistake } from './yaml-mistake.ts'

/** Text is not valid YAML. The message has the line and the reason, and never a part of the text. */
export class YamlError extends Error {
  readonly line: number | undefined

  constructor(reason: string, line?: number) {
    super(line === undefined ? reason : `${reason} (line ${line})`)
    this.name = 'YamlError'
    this.line = line
  }
}

/** Limit of values reached through aliases, against the "billion laughs" attack. */
const MAX_ALIASED_VALUES = 100_000
/** No configuration nests deeper. */
const MAX_DEPTH = 200
/** Limit of lines and list items. A kubeconfig with 10,000 contexts has two thirds of it, and takes some seconds. */
const MAX_PIECES = 500_000
/** The same limit for JSON and plain YAML, which take a tenth of the time and memory. */
const MAX_PLAIN_PIECES = 2_000_000

/** YAML 1.1 tags that Go's parser does not support: dates stay strings, and `1:30` is not a number. */
const UNSUPPORTED_TAGS = /:(?:timestamp|binary|set|omap|pairs)$/

/**
 * Parses YAML, or JSON, into plain data as Kubernetes does.
 *
 * This is YAML 1.1, because Go's parser reads `yes` and `on` as booleans and `010` as eight. Integers beyond 2^53 become
 * `bigint`, and keys keep their spelling, so that a plugin receives data as it was written. Only the first document is
 * read; the last of several equal keys wins.
 *
 * @throws {YamlError} With the line and the reason; the text may contain secrets and is not quoted.
 */
export function parseYaml(text: string): unknown {
  rejectOtherLineBreaks(text)
  if (countPieces(text) > MAX_PLAIN_PIECES) {
    throw new YamlError(`more than ${MAX_PLAIN_PIECES} lines and list items`)
  }
  const json = tryParseJson(text)
  if (json !== undefined) return json
  const plain = readPlainYaml(text, parseAnyYaml)
  return plain === NOT_PLAIN ? parseAnyYaml(text) : plain
}

const OTHER_LINE_BREAK = /[\u0085\u2028\u2029]|\r(?!\n)/

/** Rejects characters that end a line for Go's parser only: kubectl would read other entries from the same text. */
function rejectOtherLineBreaks(text: string): void {
  const at = text.search(OTHER_LINE_BREAK)
  if (at === -1) return
  const name = `U+${text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}`
  const line = text.slice(0, at).split('\n').length
  throw new YamlError(`the character ${name}, which ends a line for kubectl, is not allowed`, line)
}

/** An exponent that may make a number infinite. */
const LARGE_EXPONENT = /[eE]\+?\d{3}/

/** Parses a JSON object, much faster than the YAML parser does; returns undefined for everything else. */
function tryParseJson(text: string): unknown {
  if (!/^\s*\{/.test(text) || LARGE_EXPONENT.test(text)) return undefined
  if (jsonDepth(text) > MAX_DEPTH) return undefined
  try {
    return parseJson(text)
  } catch {
    // It may be YAML in flow style, and the YAML parser has the better error message.
    return undefined
  }
}

function parseAnyYaml(text: string): unknown {
  const document = readDocument(text)
  if (document === undefined) return null
  const targets = findTargets(document)
  const limits = new AliasLimits()
  const followAlias = (alias: Alias, depth: number): unknown => {
    const target = targets.get(alias)
    if (target === undefined) throw new YamlError('alias without an anchor')
    return limits.throughAlias(() => follow(target, depth + 1))
  }
  const follow = (node: unknown, depth: number): unknown => {
    limits.check(depth)
    if (isAlias(node)) return followAlias(node, depth)
    if (isSeq(node)) return node.items.map((item) => follow(item, depth + 1))
    if (isMap(node)) return Object.fromEntries(followPairs(node.items, depth, follow))
    return isScalar(node) ? scalarValue(node) : null
  }
  return follow(document.contents, 0)
}

/** Limits the data that aliases can create from a small text. */
class AliasLimits {
  #aliases = 0
  #aliased = 0

  throughAlias(follow: () => unknown): unknown {
    this.#aliases += 1
    const value = follow()
    this.#aliases -= 1
    return value
  }

  check(depth: number): void {
    if (this.#aliases > 0) this.#aliased += 1
    if (this.#aliased > MAX_ALIASED_VALUES) {
      throw new YamlError(`more than ${MAX_ALIASED_VALUES} values through aliases`)
    }
    if (depth > MAX_DEPTH) throw new YamlError(`nested more than ${MAX_DEPTH} levels deep`)
  }
}

/**
 * Parses the first document into a tree whose nodes know their position in the text.
 *
 * @throws {YamlError}
 */
export function readDocument(text: string): Document.Parsed | undefined {
  rejectHostile(text)
  const lineCounter = new LineCounter()
  const composer = new Composer({
    version: '1.1',
    intAsBigInt: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    customTags: (tags: Tags) =>
      tags.filter(
        (tag) =>
          typeof tag === 'string' || !(UNSUPPORTED_TAGS.test(tag.tag) || tag.format === 'TIME'),
      ),
  })
  const [document] = composer.compose(readTokens(text, lineCounter))
  const [error] = document?.errors ?? []
  if (error !== undefined) {
    const { reason, line } = locateMistake(text, error.code, lineCounter.linePos(error.pos[0]).line)
    throw new YamlError(reason, line)
  }
  if (document !== undefined) endLastBlock(document, text)
  return document
}

/** Removes the line break that the library adds to a block scalar if the text ends without one. Go's parser adds none. */
function endLastBlock(document: Document.Parsed, text: string): void {
  if (text.slice(text.lastIndexOf('\n') + 1).trim() === '') return
  visit(document, {
    Scalar(_, scalar) {
      const { type, value, range } = scalar
      if (type !== 'BLOCK_LITERAL' && type !== 'BLOCK_FOLDED') return
      if (typeof value !== 'string' || (range?.[1] ?? 0) < text.length) return
      scalar.value = value.replace(/\n$/, '')
    },
  })
}

/**
 * Rejects text that the YAML parser cannot handle: very many items take it minutes, and deep nesting ends the process,
 * because its regular expressions run out of memory, which cannot be caught.
 */
function rejectHostile(text: string): void {
  if (countPieces(text) > MAX_PIECES) {
    throw new YamlError(`more than ${MAX_PIECES} lines and list items`)
  }
  if (nestingDepth(text) > MAX_DEPTH) {
    throw new YamlError(`nested more than ${MAX_DEPTH} levels deep`)
  }
}

const LINE_FEED = 10
const COMMA = 44

function countPieces(text: string): number {
  let pieces = 1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === LINE_FEED || code === COMMA) pieces += 1
  }
  return pieces
}

/**
 * Splits the text into tokens and throws if they nest too deep, before any code recurses into them.
 *
 * Brackets in quotes can mislead the estimate in `nestingDepth`, but not the stack of the parser.
 */
function* readTokens(text: string, lineCounter: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lineCounter.addNewLine)
  lineCounter.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    if (parser.stack.length > MAX_DEPTH + EXTRA_STACK) {
      throw new YamlError(`nested more than ${MAX_DEPTH} levels deep`)
    }
  }
  yield* parser.end()
}

/** Entries on the parser's stack that are not levels of nesting: the document, and a scalar. */
const EXTRA_STACK = 2

/**
 * Finds the target of each alias: the last node before it that has its anchor.
 *
 * It visits the document once. The library visits the whole document for each alias, which takes minutes for a file of
 * 100 KB.
 */
function findTargets(document: Document.Parsed): ReadonlyMap<Alias, Node> {
  const anchored = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Alias(_, alias) {
      const target = anchored.get(alias.source)
      if (target !== undefined) targets.set(alias, target)
    },
    Value(_, node) {
      if (node.anchor !== undefined) anchored.set(node.anchor, node)
    },
  })
  return targets
}

type Follow = (node: unknown, depth: number) => unknown

/** Returns the entries of a map. Of several with one name the last counts, also if a merge key adds it, as in Go's parser. */
function followPairs(
  pairs: readonly { key: unknown; value: unknown }[],
  depth: number,
  follow: Follow,
): [string, unknown][] {
  return pairs.flatMap(({ key, value }): [string, unknown][] => {
    const followed = follow(value, depth + 1)
    if (!isMergeKey(key)) return [[keyName(key), followed]]
    // Of a list, the first map wins. An alias of a list is not a list.
    const sources = isSeq(value) && Array.isArray(followed) ? followed.toReversed() : [followed]
    return sources.flatMap(mergedEntries)
  })
}

/** A `<<` with quotes or a tag is an ordinary key. */
function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.source === '<<' && key.tag === undefined
}

function keyName(key: unknown): string {
  if (!isScalar(key)) throw new YamlError('key is not a scalar')
  rejectTag(key)
  if (typeof key.value === 'string') return key.value
  // `on:` and `1:` are names, although they are not strings in YAML 1.1.
  return key.source ?? String(key.value)
}

function mergedEntries(value: unknown): [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value)
  }
  throw new YamlError('a merge key needs a map or a list of maps')
}

/** Infinity and NaN as YAML writes them. */
const NOT_FINITE = /^[-+]?\.(?:inf|nan)$/i

/**
 * Returns the value of a scalar.
 *
 * The library reads `e1` and `.` as NaN, and `12e4567` as infinity. Go's parser reads them as strings, and such names
 * exist.
 */
function scalarValue(scalar: Scalar): unknown {
  rejectTag(scalar)
  const { value, source, tag } = scalar
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value)
  if (typeof value === 'number' && !Number.isFinite(value)) {
    if (tag === undefined && source !== undefined && !NOT_FINITE.test(source)) return source
    throw new YamlError('number is not finite')
  }
  return value ?? null
}

/**
 * Rejects tags with which kubectl would read another value: Go's parser decodes binary data, also in keys, and merges a
 * quoted `<<`. It also decodes percent signs in a tag.
 */
function rejectTag({ tag = '' }: Scalar): void {
  if (tag.includes('%')) throw new YamlError('a percent sign in a tag is not supported')
  const [, name] = /^tag:yaml\.org,2002:(binary|merge)$/.exec(tag) ?? []
  if (name !== undefined) throw new YamlError(`the tag !!${name} is not supported`)
}

const ERROR_REASONS: Readonly<Record<string, string>> = {
  BAD_INDENT: 'wrong indentation',
  TAB_AS_INDENT: 'a tab in the indentation; use spaces',
  BLOCK_AS_IMPLICIT_KEY: 'a second colon on one line; quote the value',
  MISSING_CHAR: 'a quote, bracket or colon is missing',
  UNEXPECTED_TOKEN: 'unexpected text',
  BAD_DQ_ESCAPE: 'an unknown escape in a quoted string',
  BAD_SCALAR_START: 'a value that starts with a reserved character; quote it',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing after a key',
}

/**
 * Says what is wrong, and where, as a reader sees it.
 *
 * What stands after the line at which the parser stopped cannot be the cause; but of two lines that do not fit
 * together, it names the first.
 */
function locateMistake(text: string, code: string, line: number): YamlMistake {
  const found = findYamlMistake(text)
  if (found !== undefined && found.line <= line + 1) return found
  return { reason: ERROR_REASONS[code] ?? code.toLowerCase().replaceAll('_', ' '), line }
}

/**
 * Estimates the nesting depth of YAML text in one pass and without recursion.
 *
 * Every bracket counts, also in strings, and so does each deeper indentation and each dash at the start of a line.
 * Closing brackets in quotes, and comments at the start of a line, can make the estimate too low, so the depth of the
 * parser is checked as well.
 */
export function nestingDepth(text: string): number {
  const indents: number[] = []
  let brackets = 0
  let deepest = 0
  for (const line of text.split('\n')) {
    const indent = line.length - line.trimStart().length
    if (indent === line.length) continue
    while ((indents.at(-1) ?? -1) >= indent) indents.pop()
    indents.push(indent)
    const inLine = bracketsIn(line, brackets)
    deepest = Math.max(deepest, indents.length + leadingIndicators(line, indent) + inLine.deepest)
    brackets = inLine.open
  }
  return deepest
}

/** Counts the `- `, `? ` and `: ` at the start of a line. */
function leadingIndicators(line: string, start: number): number {
  let count = 0
  for (let at = start; at < line.length; at += 1) {
    if (isSpace(line[at])) continue
    if (!'-?:'.includes(line.charAt(at)) || !isSpace(line[at + 1])) break
    count += 1
  }
  return count
}

function isSpace(character: string | undefined): boolean {
  return character === undefined || /\s/.test(character)
}

function bracketsIn(line: string, before: number): { open: number; deepest: number } {
  let open = before
  let deepest = before
  for (const [bracket] of line.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1)
    deepest = Math.max(deepest, open)
  }
  return { open, deepest }
}

/** Returns the nesting depth of JSON text. The result is meaningless for other text. */
export function jsonDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let isString = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') isString = !isString
    else if (isString) at += character === '\\' ? 1 : 0
    else if (character === '{' || character === '[') {
      depth += 1
      deepest = Math.max(deepest, depth)
    } else if (character === '}' || character === ']') depth -= 1
  }
  return deepest
}
